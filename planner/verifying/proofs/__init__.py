"""Replays a proof that no plan is as low as some height, from the problem and the proof alone."""
