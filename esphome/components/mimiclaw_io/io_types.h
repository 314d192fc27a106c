#pragma once

// The words of the I/O core: plain C++, no ESPHome and no FreeRTOS header, so the same text runs on the
// chip, in the twin and in the property tests.

#include <cstddef>
#include <cstdint>

namespace esphome::mimiclaw_io {

// One bit a channel in a 64-bit mask; the ESP32-S3 has fewer usable pins than that.
inline constexpr uint8_t MAX_CHANNELS = 64;
inline constexpr uint8_t NO_CHANNEL = 0xFF;
// A day: longer than any watering or heating run, short enough that milliseconds fit an int32 with room.
inline constexpr int32_t MAX_DURATION_MS = 86400000;
inline constexpr uint64_t NEVER_US = UINT64_MAX;

enum class Kind : uint8_t { RELAY, OUTPUT, INPUT, ANALOG };

/// Who asks. Values are bits of ChannelConfig::actors.
enum class Actor : uint8_t { NONE = 0, FAST_PATH = 1, AGENT = 2, AUTOMATION = 4 };

enum class Op : uint8_t { READ, ON, OFF, TOGGLE, PULSE, UNKNOWN };

enum class Code : uint8_t {
  OK,
  UNKNOWN_CHANNEL,
  WRONG_KIND,
  BAD_DURATION,
  BAD_STATE,
  ACTOR_DENIED,
  MIN_ON,
  MIN_OFF,
  INTERLOCK,
  OVER_MAX,
  QUEUE_FULL,
  NOT_READY,
  STALLED,
  LINK_LOST,
  SHUTTING_DOWN,
  NOT_MOVED,
  COUNT,
};

enum class EventType : uint8_t { MAX_ON, INTERLOCK, REFUSED, FAIL_SAFE, LINK_LOST, LINK_BACK, STALLED, COUNT };

/// Why everything is held in its safe state; bits of IoCore::holds().
enum Hold : uint8_t {
  HOLD_NONE = 0,
  HOLD_BOOT = 1,
  HOLD_LINK = 2,
  HOLD_SHUTDOWN = 4,
  HOLD_STALL = 8,
};

struct ChannelConfig {
  const char *id;
  Kind kind;
  int16_t pin;
  bool inverted;
  bool safe;     ///< logical state to fall back to
  bool restore;  ///< bring the last state back after boot_delay
  bool confirm;  ///< told to clients; the device acts on the command either way
  bool pullup;
  bool pulldown;
  uint8_t actors;  ///< bits of Actor
  uint8_t group;   ///< interlock group, 0 for none
  uint32_t max_on_ms;
  uint32_t min_on_ms;
  uint32_t min_off_ms;
  uint32_t pulse_ms;  ///< 0 unless momentary
  uint32_t debounce_ms;
  uint32_t sample_ms;  ///< analog only
  float volt_low;      ///< analog: this voltage reads value_low
  float volt_high;
  float value_low;
  float value_high;
  float delta;  ///< analog: smallest change worth publishing

  bool drives() const { return this->kind == Kind::RELAY || this->kind == Kind::OUTPUT; }
  bool momentary() const { return this->pulse_ms != 0; }
};

struct DeviceConfig {
  uint32_t tick_us{1000};
  uint32_t link_timeout_ms{0};  ///< 0: link loss is not watched
  bool link_keep{false};        ///< true: note a lost link, leave the relays alone
  uint32_t boot_delay_ms{0};
};

struct Command {
  uint32_t call{0};  ///< echoed in the result; 0 when nobody waits for it
  uint8_t channel{NO_CHANNEL};
  Op op{Op::READ};
  uint8_t actor{0};
  int32_t duration_ms{0};  ///< 0: none given; as it came, so that a negative one is refused here
};

struct Result {
  uint32_t call{0};
  Code code{Code::OK};
  uint8_t channel{NO_CHANNEL};
  uint8_t other{NO_CHANNEL};  ///< the channel that stands in the way (interlock)
  bool known{false};          ///< state below was read from the pin
  bool state{false};
  float value{0.0f};
  uint32_t wait_ms{0};
  uint32_t limit_ms{0};
  uint32_t deadline_ms{0};
};

struct Event {
  EventType type{EventType::REFUSED};
  Code code{Code::OK};
  uint8_t channel{NO_CHANNEL};
  uint8_t other{NO_CHANNEL};
  uint8_t actor{0};
  uint8_t hold{HOLD_NONE};
  uint32_t ms{0};  ///< wait or limit that goes with the code
};

const char *code_name(Code code);
const char *event_name(EventType type);
const char *kind_name(Kind kind);
const char *actor_name(uint8_t actor);
/// Actor for a name, Actor::NONE for an unknown one.
uint8_t actor_from_name(const char *name);

/// What the core needs of the pins. Levels are raw: inversion is the core's business.
class PinPort {
 public:
  virtual ~PinPort() = default;
  virtual void write(uint8_t channel, bool level) = 0;
  virtual bool read(uint8_t channel) = 0;
  /// Volts at an analog channel, NaN when there is no reading.
  virtual float read_volts(uint8_t channel) = 0;
};

/// Where the core reports to; called on the I/O task, must not block.
class IoSink {
 public:
  virtual ~IoSink() = default;
  virtual void on_state(uint8_t channel, bool state, float value) = 0;
  virtual void on_event(const Event &event) = 0;
};

}  // namespace esphome::mimiclaw_io
