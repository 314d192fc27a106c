"""Every limit of this room, each with its reason."""

from __future__ import annotations

from typing import Final

#: A house that is off line should hear so soon; a model may think much longer.
CONNECT_S: Final = 10.0

#: Closing is a courtesy: a peer that does not answer must not hold the turn.
CLOSE_S: Final = 2.0

#: What follows a whole answer are figures; nobody waits long for those.
GOODBYE_S: Final = 1.0

#: After the last event only the end of the body is missing. It is worth a moment: a
#: connection read to its end is used again, and saves the next request a handshake.
DRAIN_S: Final = 0.25

#: A provider that asks for a longer pause is given up for this turn: nobody waits
#: that long in front of a loudspeaker.
MAX_RETRY_AFTER_S: Final = 10.0

#: First pause before another try; doubled each time.
RETRY_BASE_S: Final = 0.5

#: Text a token can stand for at most, as far as we listen: four characters are usual.
TEXT_CHARS_PER_TOKEN: Final = 16

#: Bytes on the wire around one token: an event of the Responses API has about 300.
WIRE_BYTES_PER_TOKEN: Final = 1024

#: What a stream may carry beside its tokens: the echo of prompt and tools at its end.
WIRE_BYTES_FLOOR: Final = 1_000_000

#: One event is parsed in one piece on the event loop: at this size in about 3 ms.
MAX_EVENT_BYTES: Final = 512_000

#: Provider's words in a log line or an error.
MAX_DETAIL_CHARS: Final = 300

#: What the APIs accept as a tool's name.
MAX_TOOL_NAME_CHARS: Final = 64

#: One tool's schema, as JSON. Bigger ones cost more prompt than they are worth.
MAX_TOOL_SCHEMA_BYTES: Final = 16_384

#: Nesting of a schema; deeper ones are cut open there.
MAX_SCHEMA_DEPTH: Final = 12

#: Reduced schemas kept in memory, so that a turn does not reduce them again.
MAX_CACHED_SCHEMAS: Final = 512

#: Anthropic's own limit of marks for its prompt cache in one request.
MAX_CACHE_MARKS: Final = 4

#: Output tokens of the request that only checks a key.
CHECK_TOKENS: Final = 16
