"""Proofs that no plan is lower: found by a search of their own, written line by line for planner.verifying.proofs to replay."""
