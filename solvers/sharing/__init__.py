"""Storage objects instead of offsets: which blocks use one object after the other, so that the objects' sizes add up to the least.

For runtimes that allocate whole objects and cannot place anything inside one. The numbers are those of any Instance; each of its pools stands for
one kind of storage, and no block has a choice.
"""
