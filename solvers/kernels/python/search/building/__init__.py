"""From the kernel's arrays to the search's own view of them: who moves, who keeps how far from whom, who stands side by side."""
