"""Strict reading of JSON from outside, and writing of JSON with one line per item.

Reading has two steps. `scan` checks that the document is sound JSON, without duplicate keys or endless numbers; if not, `exact_scan` finds
the place. Then `validate` checks it against one of our types (`strict` has their parts, `sentences` describes faults), or `loading` passes
it to a reader that goes through it itself; `records` reads many plain buffers into columns. `lines` writes.

Empty lists take a hundred times their text in memory, so nothing makes objects of a long document all at once: `pieces` finds where lists
and objects begin and end, and the others take 64 KiB of them at a time.
"""
