"""How to plan: limits, solver, seed, goal, and what replaces the problem's capacities and objective."""
