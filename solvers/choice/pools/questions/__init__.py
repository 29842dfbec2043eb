"""Questions about programs to CP-SAT: questions and answers as JSON, the process that asks and the one that answers."""
