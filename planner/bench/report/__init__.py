"""Measurements as pages: HTML, Markdown and their charts."""
