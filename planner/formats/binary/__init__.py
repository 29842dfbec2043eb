"""Files read byte by byte, whatever their contents mean: protocol buffers and flatbuffers."""
