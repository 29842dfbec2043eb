"""Pages for browsers: the page, the documentation, the reference of the API."""
