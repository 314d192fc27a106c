"""The language model on the wire."""
