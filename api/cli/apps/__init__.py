"""The commands as they are typed: names, arguments, options, help."""
