"""Every format that a problem or a plan can be written in, a row each: how it is called, recognised, read and written."""
