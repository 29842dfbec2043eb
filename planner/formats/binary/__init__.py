"""Files byte by byte, whatever they say: protocol buffers, flatbuffers, and numbers written out."""
