"""TVM's unified static memory planner: its greedy planners, and its hill climb over first fit."""
