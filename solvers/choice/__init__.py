"""Choices first, addresses after: what is chosen is asked of CP-SAT, which forgets addresses, and then placed by whoever is asked."""
