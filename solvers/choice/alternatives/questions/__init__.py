"""What CP-SAT is asked about choices in a process of its own, and how questions and answers go there and back."""
