"""Memory dumps of other tools: logs of their plans, snapshots and traces of allocations."""
