"""Work outside of the event loop: processes read and solve problems, in jobs that outlive them.

requests     the posted problem, its endpoint and its options
kinds        each kind of job: how it reads, works, answers and draws
processes    the worker processes, of this machine or of a cluster, and the requests that they understand
attempt      one attempt at a job, and how its end is recorded in the store
dispatch     which workers carry jobs out: this process's own, or others that share the store
queue        such another worker: takes jobs from a shared store, including those of dead workers
hub          wakes those that wait for a job
"""
