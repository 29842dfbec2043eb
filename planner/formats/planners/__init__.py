"""The files of other planners: minimalloc, dsa-solver, and TVM's USMP."""
