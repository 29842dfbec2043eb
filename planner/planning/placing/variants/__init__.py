"""The path of a problem with variants to its plan or frontier: what there is to choose, who is asked, and how a choice is placed."""
