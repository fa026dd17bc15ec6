"""Parts of an object that are written, scaled, bound or called on their own."""
