"""The path of one problem to its plan: lower, solve, lift, verify."""
