"""ONNX models: read from their bytes as programs, with shapes inferred, symbols kept, and control flow."""
