"""Which operators run together stripe by stripe: how a group can be cut, what each cut needs, and which ways are worth considering."""
