"""How to plan: limits, solver, seed, goal, and replacements of the problem's capacities and objective."""
