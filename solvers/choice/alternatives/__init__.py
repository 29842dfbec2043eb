"""Choosing: one alternative of each group, so that little is live at a time and little is paid; then the choice is placed."""
