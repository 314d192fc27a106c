"""What the model is asked when nobody speaks to it: flush, summary, consolidation."""

from __future__ import annotations

from typing import Final

#: The tools such a turn may use: memory only. It can move no relay and plan no job.
MEMORY_TOOLS: Final = frozenset(
    {
        "append_note",
        "edit_file",
        "get_current_time",
        "list_dir",
        "read_file",
        "read_file_section",
        "search_files",
        "write_file",
    }
)

FLUSH: Final = """\
[Nobody speaks to you now; nobody hears this turn.] The older part of this conversation \
will be replaced by a summary. First save what must stay and is not in your files yet, \
with append_note or edit_file; save nothing twice. Then answer with the summary alone: \
at most 150 words, in the language of the conversation, with names, numbers, decisions \
and open questions."""

CONSOLIDATION: Final = """\
[Nobody speaks to you now; nobody hears this turn.] It is night, and time to tidy up your \
memory. Read {memory} and these notes: {notes}. Move what lasts (facts, preferences, \
dates that come again) into {memory} with edit_file, each under the heading it belongs \
to; say once what stands there twice; correct what newer notes correct; leave out what \
was of one day only. The file may have at most {limit} bytes; it has {used} now. The \
notes stay as they are. Answer with one line that says what you changed."""
