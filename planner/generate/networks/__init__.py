"""Made-up networks: each kind writes a program step by step, and its tensors are the buffers."""
