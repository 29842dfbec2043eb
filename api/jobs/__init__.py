"""Work that is done elsewhere than on the event loop: problems are read and solved by processes, in jobs that survive them.

request      doors           where it comes in, and what may be asked for; options, what is left of that; posted_problem, what its body holds
jobs         kinds           what each kind reads, does, answers and draws
processes    process_pool    a fixed number of worker processes; worker_process is what runs in one, tasks what it can be asked
one try      attempt         at a job, and how its end is noted in the store
who works    dispatch        this process's own workers, or others'; queue_consumer works for a shared store, sweeper takes over from the dead
listeners    hub             wakes whoever waits for a job
"""
