"""Is a graph or a program sound in itself?"""
