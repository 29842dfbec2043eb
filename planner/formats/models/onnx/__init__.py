"""ONNX models: read from their bytes, shapes found out, symbols kept, control flow and all, as programs."""
