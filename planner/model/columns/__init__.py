"""Many of a thing as columns of numbers: a million take only the room of their numbers, and objects are made on demand."""
