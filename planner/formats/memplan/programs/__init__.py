"""Programs instead of buffers: graphs of operators, functions that run each other, and traces of what a run allocated."""
