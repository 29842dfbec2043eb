"""Tables of plans, sharings, reports and measurements, for people."""
