"""The files the model sees: paths, text, sections, search, sessions, notes, skills."""
