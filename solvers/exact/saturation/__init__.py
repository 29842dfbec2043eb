"""The search by saturation: where conflicts alone say who is in whose way, the item with the fewest addresses left comes next."""
