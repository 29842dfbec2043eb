"""Jobs of a store that several processes share: taking them from its queue, and taking over those of dead workers."""
