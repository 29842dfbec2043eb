"""Work that is done elsewhere than on the event loop: tasks, the processes that do them, and the jobs they belong to."""
