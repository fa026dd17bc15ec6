"""The nouns: one file per Kubernetes kind, each a declaration and its pure rules."""
