"""Skills on their way in: checked, drafted, imported, updated."""
