"""What CP-SAT is asked about programs: questions and answers as JSON, and the processes that ask and answer."""
