"""The service's paths, one file for each kind."""
