"""From choices of pools to placements: packing them as a whole, or in windows of time beside what is placed."""
