"""The output shapes of ONNX's operators, from their inputs: a function for each kind, and a table of all."""
