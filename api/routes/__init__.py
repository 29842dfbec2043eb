"""The service's paths, one file for each kind; `steps` is what those that plan have in common, `http` what all have."""
