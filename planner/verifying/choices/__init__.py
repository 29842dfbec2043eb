"""What a plan says of all choices of alternatives: proofs that are added up or tried again, and simple plans of some choices to hold claims against."""
