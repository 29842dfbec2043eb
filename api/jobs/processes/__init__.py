"""The processes that read and solve: a pool of them, their messages, and the requests that each understands."""
