"""What can go wrong with a file, each as one sentence that a model can act on."""

from __future__ import annotations


class WorkspaceError(Exception):
    """Base of the family; ``str(error)`` is a whole sentence, fit to be shown to a model."""


class PathRefused(WorkspaceError):
    """The path is outside the tree, malformed, protected or another person's."""


class NotFound(WorkspaceError):
    """There is no such file, folder or section."""


class NotText(WorkspaceError):
    """The file is not UTF-8 text, or is not a file at all."""


class TooLarge(WorkspaceError):
    """One file is, or would become, larger than its limit."""


class TreeFull(WorkspaceError):
    """The whole tree, its number of files or the disk is full."""


class Changed(WorkspaceError):
    """The file changed, or was not wholly read, since this turn read it."""


class EditMismatch(WorkspaceError):
    """The text to replace is missing, or stands more than once."""


class Busy(WorkspaceError):
    """Another program holds the file."""


class Unavailable(WorkspaceError):
    """The disk answered with an error."""
