"""What other tools print or write down of memory: their plans' logs, snapshots and traces of allocations."""
