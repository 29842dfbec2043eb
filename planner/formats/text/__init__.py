"""Text, line by line: numbers and times in lines, many decimal numbers at once, and buffers gathered in columns."""
