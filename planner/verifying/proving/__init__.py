"""Finds proofs that no plan is lower, by a separate search, and writes them line by line for planner.verifying.proofs to replay."""
