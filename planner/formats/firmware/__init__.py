"""Plans for firmware: C and C++ headers, a linker script, a memory map, and TFLite Micro's buffer plan."""
