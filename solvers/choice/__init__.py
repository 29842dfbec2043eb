"""Choices first, addresses after: CP-SAT chooses without addresses, and the choice is then placed."""
