"""Plans as firmware takes them: C and C++ headers, a linker script, a memory map, and TFLite Micro's buffer plan."""
