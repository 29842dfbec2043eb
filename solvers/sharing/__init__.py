"""Storage objects instead of offsets: which blocks use one object in turn, so that the sum of the objects' sizes is least.

For runtimes that allocate whole objects and cannot place buffers inside one. The data are those of any Instance; each of its pools stands for one
kind of storage, and no block has a choice.
"""
