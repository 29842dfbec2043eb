"""The words of solvers: instances, placements and their values, outcomes, and the interface of every solver."""
