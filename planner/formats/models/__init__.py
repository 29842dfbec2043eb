"""Models of neural networks: the files of ONNX and of TensorFlow Lite."""
