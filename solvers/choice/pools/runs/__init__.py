"""One run on an instance: what is known of it, and step by step what finds and proves more, for programs that are asked about as a whole or cut in time."""
