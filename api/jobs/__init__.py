"""Work that is done elsewhere than on the event loop: problems are read and solved by processes, in jobs that survive them.

requests     what was posted: at which door, with which options, which problem
kinds        what each kind of job reads, does, answers and draws
processes    the worker processes, of this machine or of a cluster: how they are kept, and what they can be asked
attempt      one try at a job, and how its end is noted in the store
dispatch     who carries jobs out: this process's own workers, or others that share the store
queue        one of those others: takes jobs from a shared store, also those of dead workers
hub          wakes those that wait for a job
"""
