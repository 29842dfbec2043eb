"""Proofs that no plan is lower: found by a separate search, and written line by line for planner.verifying.proofs to replay."""
