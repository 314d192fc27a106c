#pragma once

#include <atomic>

#include "io_core.h"
#include "jitter.h"
#include "spsc_queue.h"

namespace esphome::mimiclaw_io {

/// A report from the I/O task to the main loop.
struct Message {
  enum class Type : uint8_t { RESULT, STATE, EVENT } type{Type::RESULT};
  Result result;
  Event event;
  uint8_t channel{NO_CHANNEL};
  bool state{false};
  float value{0.0f};
};

/// Pins that can be forced safe from outside a stalled I/O task.
class LatchedPins : public PinPort {
 public:
  /// Put every output into its safe state and ignore the I/O task's writes until unlatch(). Any thread.
  virtual void latch_safe() = 0;
  virtual void unlatch() = 0;
};

/// The seam between two threads: the main loop submits commands and polls reports, the I/O task calls
/// step(). No lock anywhere; neither side ever waits for the other.
class IoRunner : protected IoSink {
 public:
  // Several bursts of a busy client: 128 commands of 16 bytes.
  static constexpr uint32_t COMMAND_QUEUE = 128;
  // Room for a result of every queued command, and as many states and events again.
  static constexpr uint32_t MESSAGE_QUEUE = 512;

  explicit IoRunner(LatchedPins &pins) : pins_(pins), core_(pins, *this) {}

  // Before the I/O task starts
  void begin(const ChannelConfig *channels, uint8_t count, const DeviceConfig &device, uint64_t restored, uint64_t now);

  // Main loop
  bool submit(const Command &command) { return this->commands_.push(command); }
  bool poll(Message &message) { return this->messages_.pop(message); }
  void link_seen() { this->link_beats_.fetch_add(1, std::memory_order_relaxed); }
  void request_hold(bool on) { this->hold_wanted_.store(on, std::memory_order_release); }
  bool holding() const { return this->hold_done_.load(std::memory_order_acquire); }
  uint32_t heartbeat() const { return this->heartbeat_.load(std::memory_order_relaxed); }
  /// The I/O task has stopped: force the pins safe behind its back.
  void declare_stalled();
  /// Reports were lost because nobody polled; read the live states instead. Clears the flag.
  bool take_overflow() { return this->overflow_.exchange(false, std::memory_order_acq_rel); }
  bool live_state(uint8_t channel) const { return this->live_[channel].load(std::memory_order_relaxed); }
  float live_value(uint8_t channel) const { return this->live_value_[channel].load(std::memory_order_relaxed); }

  // I/O task
  /// One round: commands, timers, inputs, reports. Returns true if the main loop has something to poll.
  bool step(uint64_t now);
  uint64_t next_deadline() const { return this->core_.next_deadline(); }

  // Diagnostics, any thread
  JitterHistogram &jitter() { return this->jitter_; }
  uint32_t queue_high_water() const { return this->commands_.high_water(); }
  uint32_t link_losses() const { return this->link_losses_.load(std::memory_order_relaxed); }
  uint32_t refusals(Code code) const { return this->refusals_[static_cast<uint8_t>(code)].load(std::memory_order_relaxed); }
  uint32_t lost_messages() const { return this->lost_.load(std::memory_order_relaxed); }
  void set_core(int core) { this->core_id_.store(core, std::memory_order_relaxed); }
  int core() const { return this->core_id_.load(std::memory_order_relaxed); }

 protected:
  void on_state(uint8_t channel, bool state, float value) override;
  void on_event(const Event &event) override;
  void send_(const Message &message);

  LatchedPins &pins_;
  IoCore core_;
  SpscQueue<Command, COMMAND_QUEUE> commands_;
  SpscQueue<Message, MESSAGE_QUEUE> messages_;
  JitterHistogram jitter_;
  std::atomic<uint32_t> link_beats_{0};
  std::atomic<uint32_t> heartbeat_{0};
  std::atomic<uint32_t> link_losses_{0};
  std::atomic<uint32_t> lost_{0};
  std::atomic<uint32_t> refusals_[static_cast<uint8_t>(Code::COUNT)]{};
  std::atomic<bool> live_[MAX_CHANNELS]{};
  std::atomic<float> live_value_[MAX_CHANNELS]{};
  std::atomic<int> core_id_{-1};
  std::atomic<bool> hold_wanted_{false};
  std::atomic<bool> hold_done_{false};
  std::atomic<bool> stalled_{false};
  std::atomic<bool> overflow_{false};
  uint32_t beats_seen_{0};
  bool reported_{false};
};

}  // namespace esphome::mimiclaw_io
