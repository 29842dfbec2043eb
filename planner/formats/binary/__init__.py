"""Files byte by byte, whatever they say: protocol buffers and flatbuffers."""
