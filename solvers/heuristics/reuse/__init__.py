"""Lowering what sharing addresses costs in one memory, where blocks may begin at few addresses."""
