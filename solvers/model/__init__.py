"""The solvers' data: instances, placements and their values, outcomes, and the interface of every solver."""
