"""What people look at in a browser: the page, the documentation, the reference of the API."""
