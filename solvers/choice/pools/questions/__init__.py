"""What CP-SAT is asked about programs: questions and answers as JSON, who asks, and the process that answers."""
