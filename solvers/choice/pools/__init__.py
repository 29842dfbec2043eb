"""Several memories: first a 0-1 program without addresses decides which block goes where, then each memory is packed."""
