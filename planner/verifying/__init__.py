"""The verification of plans, from the problem and the plan alone: nothing here knows how plans are made."""
