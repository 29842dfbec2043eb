"""The path of a problem with variants to its plan or frontier: what can be chosen, which solver chooses, and how a choice is placed."""
