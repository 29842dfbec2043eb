"""Jobs of a shared store: taking them from its queue, and taking over those of dead workers."""
