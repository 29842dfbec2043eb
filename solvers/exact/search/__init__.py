"""The exact search: is there a placement of this height? Asked again and again, from the bound upwards."""
