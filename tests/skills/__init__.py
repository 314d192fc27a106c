"""Skills: the library, the list, and how one comes in."""
