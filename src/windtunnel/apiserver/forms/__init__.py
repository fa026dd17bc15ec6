"""How bodies are read and answers are written: media types, tables, options, selectors."""
