"""TensorFlow Lite: models as problems, by use or by TFLite Micro's rules, and plans written into models."""
