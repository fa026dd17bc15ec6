"""StatefulSets: numbered pods, one after the other or all at once, each with its own claims."""
