"""The ways to plan: addresses for a problem (placing), and other ways to ask for them (interfaces); storage objects (sharing); sizes with symbols (shapes); many memories (sweeping)."""
