"""Work that is done elsewhere than on the event loop: problems are read and solved by processes, in jobs that survive them.

request      posted_problem  what a body holds; options, what may be asked of it
processes    process_pool    a fixed number of worker processes; worker_process is what runs in one, tasks what it can be asked
one try      attempt         at a job, and how its end is noted in the store
who works    dispatch        this process's own workers, or others'; queue_consumer works for a shared store, sweeper takes over from the dead
listeners    hub             wakes whoever waits for a job
"""
