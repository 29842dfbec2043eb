"""The processes that read and solve: a pool of them, what goes to and fro, and what each can be asked."""
