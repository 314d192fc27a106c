"""Ways in and out besides Assist."""
