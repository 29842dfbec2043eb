"""Numbers in, numbers out: rectangles, pools and alignments in; offsets, a bound and a stop reason out."""
