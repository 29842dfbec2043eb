"""ONNX models: read from their bytes as programs, with their shapes worked out, symbols kept, and control flow."""
