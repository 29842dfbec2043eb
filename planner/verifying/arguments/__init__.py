"""The arguments of certificates, worked out again from the problem alone, and whether they prove as much as the plan claims."""
