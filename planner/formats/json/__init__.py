"""JSON from outside, strictly read, and JSON for outside, a line for each thing.

Reading has two steps. `scan` looks whether the document is sound JSON, without doubled keys or endless numbers; of one that is not, `exact_scan` says
where. Then `validate` holds it against a type of ours (`strict` has what these are made of, `sentences` says in words what is wrong), or `loading` hands it
to a reader that goes through it itself; `records` reads many plain buffers into columns. `lines` writes.

Empty lists take a hundred times their text in memory, so nobody makes objects of a long document all at once: `pieces` finds where lists and objects begin and
end, and the others take 64 KiB of them at a time.
"""
