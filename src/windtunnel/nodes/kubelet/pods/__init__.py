"""The life of one pod on the node: what is read, what is decided, what is done."""
