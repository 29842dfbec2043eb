"""Later terms of choices after peaks, which hold the peaks at what they are."""
