"""Binary files as they are written, whatever they say: protocol buffers and flatbuffers."""
