"""The exact search: asks, from the bound upwards, whether there is a placement of a height."""
