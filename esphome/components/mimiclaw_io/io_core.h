#pragma once

#include "io_types.h"

namespace esphome::mimiclaw_io {

/// Policy, timers, debounce and interlocks of every channel. Runs on the I/O task alone; the time is
/// passed in (microseconds of one clock that never steps back), so tests own it.
class IoCore {
 public:
  IoCore(PinPort &pins, IoSink &sink) : pins_(pins), sink_(sink) {}

  /// Take the channels over and drive every output to its safe state. `restored` has one bit a channel
  /// that was on before the restart; it counts only for channels with `restore`, once boot_delay is over.
  void begin(const ChannelConfig *channels, uint8_t count, const DeviceConfig &device, uint64_t restored, uint64_t now);

  /// Carry out one command now. Never waits, never queues.
  Result execute(const Command &command, uint64_t now);
  /// Run timers, debounce and the link watch.
  void tick(uint64_t now);
  /// An API client is connected at this moment.
  void link_seen(uint64_t now);
  /// Hold everything in its safe state (HOLD_SHUTDOWN, HOLD_STALL) until released.
  void hold(Hold reason, uint64_t now);
  void release(Hold reason, uint64_t now);

  /// When the next timer ends, NEVER_US if none runs.
  uint64_t next_deadline() const;
  uint8_t count() const { return this->count_; }
  uint8_t holds() const { return this->holds_; }
  bool commanded(uint8_t channel) const { return this->state_[channel].on; }
  uint32_t link_losses() const { return this->link_losses_; }
  uint32_t refusals(Code code) const { return this->refusals_[static_cast<uint8_t>(code)]; }

 protected:
  struct ChannelState {
    bool on{false};          ///< commanded (outputs) or debounced (inputs), logical
    bool candidate{false};   ///< input level waiting out its debounce
    bool max_on_end{false};  ///< the deadline below is max_on_time, not a pulse
    bool reported{false};    ///< state last handed to the sink
    uint64_t changed_us{0};  ///< last change of `on`
    uint64_t end_us{NEVER_US};
    uint64_t candidate_us{0};
    uint64_t sample_us{0};
    float value{0.0f};
    float reported_value{0.0f};
  };

  bool is_on_(uint8_t channel);
  void apply_(uint8_t channel, bool on, uint64_t now);
  void all_safe_(uint64_t now);
  void enter_hold_(Hold reason, uint64_t now);
  void restore_(uint64_t now);
  void expire_(uint64_t now);
  void sample_inputs_(uint64_t now);
  void sample_analog_(uint8_t channel, uint64_t now);
  void check_link_(uint64_t now);
  void report_(uint8_t channel);
  uint8_t blocked_by_(uint8_t channel);

  void write_(const Command &command, uint64_t now, Result &result);
  void turn_on_(const Command &command, uint64_t now, Result &result);
  void turn_off_(const Command &command, uint64_t now, Result &result);
  void refuse_(Result &result, Code code, uint8_t actor);
  void read_back_(const Command &command, uint64_t now, Result &result);
  Code hold_code_() const;

  PinPort &pins_;
  IoSink &sink_;
  const ChannelConfig *config_{nullptr};
  DeviceConfig device_;
  ChannelState state_[MAX_CHANNELS];
  uint64_t restored_{0};
  uint64_t boot_end_us_{0};
  uint64_t link_us_{0};
  uint32_t link_losses_{0};
  uint32_t refusals_[static_cast<uint8_t>(Code::COUNT)]{};
  uint8_t count_{0};
  uint8_t holds_{HOLD_NONE};
  bool link_lost_{false};
};

}  // namespace esphome::mimiclaw_io
