"""Which shapes ONNX's operators give out, by what they are given: a function for each kind, and a table of them all."""
