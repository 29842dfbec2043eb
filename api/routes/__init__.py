"""The service's paths, one file for each kind; `steps` has the common parts of those that plan, `http` those of all."""
