#include "io_types.h"

#include <cstring>
#include <initializer_list>

namespace esphome::mimiclaw_io {

static const char *const CODE_NAMES[] = {
    "ok",        "unknown_channel", "wrong_kind", "bad_duration", "bad_state", "actor_denied", "min_on",        "min_off",
    "interlock", "over_max",        "queue_full", "not_ready",    "stalled",   "link_lost",    "shutting_down", "not_moved",
};
static_assert(sizeof(CODE_NAMES) / sizeof(CODE_NAMES[0]) == static_cast<size_t>(Code::COUNT));

static const char *const EVENT_NAMES[] = {
    "max_on", "interlock", "refused", "fail_safe", "link_lost", "link_back", "stalled",
};
static_assert(sizeof(EVENT_NAMES) / sizeof(EVENT_NAMES[0]) == static_cast<size_t>(EventType::COUNT));

const char *code_name(Code code) { return CODE_NAMES[static_cast<size_t>(code)]; }
const char *event_name(EventType type) { return EVENT_NAMES[static_cast<size_t>(type)]; }

const char *kind_name(Kind kind) {
  switch (kind) {
    case Kind::RELAY:
      return "relay";
    case Kind::OUTPUT:
      return "output";
    case Kind::INPUT:
      return "input";
    default:
      return "analog";
  }
}

const char *actor_name(uint8_t actor) {
  switch (static_cast<Actor>(actor)) {
    case Actor::FAST_PATH:
      return "fast_path";
    case Actor::AGENT:
      return "agent";
    case Actor::AUTOMATION:
      return "automation";
    default:
      return "";
  }
}

uint8_t actor_from_name(const char *name) {
  for (Actor actor : {Actor::FAST_PATH, Actor::AGENT, Actor::AUTOMATION}) {
    if (strcmp(name, actor_name(static_cast<uint8_t>(actor))) == 0)
      return static_cast<uint8_t>(actor);
  }
  return static_cast<uint8_t>(Actor::NONE);
}

}  // namespace esphome::mimiclaw_io
