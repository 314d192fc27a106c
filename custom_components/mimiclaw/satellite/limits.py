"""The room's numbers, each with its reason. Seconds unless the name says otherwise."""

from __future__ import annotations

from typing import Final

DEFAULT_PORT: Final = 6053

#: A command without an answer for this long has failed, and its connection with it.
COMMAND_DEADLINE_S: Final = 1.0

#: A device is tried this often while it is away: the longest wait (attempt plus
#: pause) stays below the three seconds promised from its return to its use.
RETRY_FIRST_S: Final = 0.1
RETRY_MOST_S: Final = 0.8
#: Two SYNs fit in (the second leaves after one second).
CONNECT_DEADLINE_S: Final = 1.6
#: A name has to be found by mDNS or DNS first.
RESOLVE_DEADLINE_S: Final = 2.0
#: A weak Wi-Fi link stretches the encrypted handshake; giving up early would only
#: begin it anew.
HANDSHAKE_DEADLINE_S: Final = 20.0
#: A wrong key or a foreign device does not mend itself by being asked often.
RETRY_TROUBLE_S: Final = 10.0
#: So many times in a row a device has to say that the key is wrong before the owner
#: hears of it. Only the device's own word counts, never a handshake that broke off.
KEY_REFUSALS: Final = 2

#: The kernel asks a silent peer this early and this often: a connection whose other
#: end vanished without a word is noticed within seconds.
TCP_KEEPIDLE_S: Final = 2
TCP_KEEPINTVL_S: Final = 1
TCP_KEEPCNT: Final = 3
#: What was sent has to be acknowledged within this time.
TCP_USER_TIMEOUT_MS: Final = 5000
#: The API's own ping: it finds a device whose network answers and whose main loop
#: does not. Gives up after four and a half times this.
API_KEEPALIVE_S: Final = 2.0

#: On unload the device is told; it gets this long to say goodbye.
GOODBYE_S: Final = 1.0

#: So many fresh starts within the window are a loop, not a power cut.
REBOOTS: Final = 5
REBOOT_WINDOW_S: Final = 180.0
#: Up for this long, it is steady again.
STEADY_S: Final = 120.0

#: A person's yes is an answer to the question just asked, not to one of an hour ago.
CONFIRM_WITHIN_S: Final = 120.0

#: A day, as in the firmware.
MAX_DURATION_S: Final = 86_400.0

#: How much of a device's description is believed: the firmware has at most 64
#: channels, its names are short.
MAX_CHANNELS: Final = 64
MAX_NAME_CHARS: Final = 120
MAX_NAMES: Final = 16
MAX_LANGUAGES: Final = 40
