"""What a plan claims: its status, gap and shortage, and the arguments of its certificates, worked out again from the problem alone."""
