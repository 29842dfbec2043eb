"""Text, line by line: numbers and times in lines, decimal numbers many at once, and buffers gathered in columns as they are read."""
