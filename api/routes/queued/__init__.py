"""The paths of requests that are answered later: jobs, batches of jobs, and their events."""
