"""Made-up networks: each kind writes down a program step by step, and its tensors are the buffers."""
