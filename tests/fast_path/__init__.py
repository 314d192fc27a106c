"""The fast path, without Home Assistant."""
