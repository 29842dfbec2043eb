"""What conflicts alone prove about one pool, however the blocks that have them are live."""
