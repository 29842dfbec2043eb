"""Programs instead of buffers: graphs of operators, functions that call each other, and traces of allocations."""
