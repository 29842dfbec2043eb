"""The measured records, and conclusions from them."""
