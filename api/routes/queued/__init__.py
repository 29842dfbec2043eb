"""The paths of requests with later answers: jobs, batches of jobs, and their events."""
