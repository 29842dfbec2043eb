"""Which tensors can lie inside others, so that nothing is moved."""
