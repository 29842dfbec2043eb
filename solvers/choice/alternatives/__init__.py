"""Chooses one alternative of each group so that little is live at a time and the cost is low; then the choice is placed."""
