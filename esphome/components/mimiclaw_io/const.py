"""Names and limits of the mimiclaw_io YAML, each limit with its reason."""

from __future__ import annotations

CONF_ACTORS = "actors"
CONF_ALLOW_STRAPPING = "allow_strapping"
CONF_BOOT_DELAY = "boot_delay"
CONF_CHANNELS = "channels"
CONF_CONFIRM = "confirm"
CONF_CORE = "core"
CONF_DEBOUNCE = "debounce"
CONF_DIAGNOSTICS = "diagnostics"
CONF_DIAGNOSTICS_INTERVAL = "diagnostics_interval"
CONF_ENTITY = "entity"
CONF_EVENT = "event"
CONF_INTERLOCK = "interlock"
CONF_KIND = "kind"
CONF_LINK_LOSS = "link_loss"
CONF_LINK_TIMEOUT = "link_timeout"
CONF_MAX_ON_TIME = "max_on_time"
CONF_MIN_OFF_TIME = "min_off_time"
CONF_MIN_ON_TIME = "min_on_time"
CONF_NAMES = "names"
CONF_PULSE = "pulse"
CONF_RESTORE = "restore"
CONF_SAFE_STATE = "safe_state"
CONF_SAMPLE = "sample_interval"
CONF_STALL_TIMEOUT = "stall_timeout"
CONF_TICK = "tick"
CONF_TWIN_SOCKET = "twin_socket"
CONF_VALUE_RANGE = "value_range"
CONF_VOLTAGE_RANGE = "voltage_range"

KIND_RELAY = "relay"
KIND_OUTPUT = "output"
KIND_INPUT = "input"
KIND_ANALOG = "analog"
KINDS = (KIND_RELAY, KIND_OUTPUT, KIND_INPUT, KIND_ANALOG)
OUTPUT_KINDS = (KIND_RELAY, KIND_OUTPUT)

# Bits as in io_types.h
ACTORS = {"fast_path": 1, "agent": 2, "automation": 4}

# One bit a channel in a 64-bit mask (io_types.h: MAX_CHANNELS).
MAX_CHANNELS = 64
# The device counts milliseconds in 32 bits and takes a day for absurd (io_types.h: MAX_DURATION_MS).
MAX_TIME_MS = 86_400_000
# A contact that needs longer than this is not bouncing.
MAX_DEBOUNCE_MS = 10_000
# Names are spoken; the whole description has to fit the device's memory.
MAX_NAMES_PER_LANGUAGE = 16
MAX_NAME_LENGTH = 60
