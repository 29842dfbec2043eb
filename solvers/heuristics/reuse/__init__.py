"""Lowering what sharing addresses costs in one memory, where blocks need begin at few addresses only."""
