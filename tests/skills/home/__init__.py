"""Skills in a real Home Assistant core, the model a server on loopback."""
