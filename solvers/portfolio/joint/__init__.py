"""Problems that do not separate into single pools: engines in rounds, what is tried beside them, and all that is known of the whole instance."""
