"""The types that annotations declare: whether a value has them, and what stands for one that is alike."""
