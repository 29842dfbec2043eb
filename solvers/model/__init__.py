"""The words of solvers: instances, placements, what they are worth, outcomes, and what every solver looks like."""
