"""Programs piece by piece: what each piece costs at least, and choices mixed of those of all pieces."""
