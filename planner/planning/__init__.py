"""The ways to plan: addresses for one problem (placing), storage objects (sharing), sizes that depend on symbols (shapes), many memories (sweeping)."""
