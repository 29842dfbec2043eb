"""memplan's answers as files: plans, sharings, reports and maps."""
