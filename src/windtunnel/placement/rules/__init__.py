"""The rules, one a file: pure, strangers to each other, made by ``placement.plugins``."""
