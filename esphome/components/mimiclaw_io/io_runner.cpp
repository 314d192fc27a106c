#include "io_runner.h"

namespace esphome::mimiclaw_io {

void IoRunner::begin(const ChannelConfig *channels, uint8_t count, const DeviceConfig &device, uint64_t restored,
                     uint64_t now) {
  this->core_.begin(channels, count, device, restored, now);
}

void IoRunner::declare_stalled() {
  // In this order: the I/O task unlatches only after it has seen the flag.
  this->pins_.latch_safe();
  this->stalled_.store(true, std::memory_order_seq_cst);
}

void IoRunner::send_(const Message &message) {
  this->reported_ = true;
  if (this->messages_.push(message))
    return;
  // Only a main loop that has not run for long gets here. States are made up for by live_state().
  this->lost_.fetch_add(1, std::memory_order_relaxed);
  this->overflow_.store(true, std::memory_order_release);
}

void IoRunner::on_state(uint8_t channel, bool state, float value) {
  this->live_[channel].store(state, std::memory_order_relaxed);
  this->live_value_[channel].store(value, std::memory_order_relaxed);
  Message message;
  message.type = Message::Type::STATE;
  message.channel = channel;
  message.state = state;
  message.value = value;
  this->send_(message);
}

void IoRunner::on_event(const Event &event) {
  Message message;
  message.type = Message::Type::EVENT;
  message.event = event;
  this->send_(message);
}

bool IoRunner::step(uint64_t now) {
  this->reported_ = false;
  const bool stalled = this->stalled_.load(std::memory_order_seq_cst);
  if (stalled) {
    // Take the safe state over as our own before our writes count again.
    this->core_.hold(HOLD_STALL, now);
    this->stalled_.store(false, std::memory_order_seq_cst);
    this->pins_.unlatch();
  }
  const bool hold = this->hold_wanted_.load(std::memory_order_acquire);
  if (hold != this->hold_done_.load(std::memory_order_relaxed)) {
    if (hold) {
      this->core_.hold(HOLD_SHUTDOWN, now);
    } else {
      this->core_.release(HOLD_SHUTDOWN, now);
    }
    this->hold_done_.store(hold, std::memory_order_release);
  }
  const uint32_t beats = this->link_beats_.load(std::memory_order_relaxed);
  if (beats != this->beats_seen_) {
    this->beats_seen_ = beats;
    this->core_.link_seen(now);
  }
  Command command;
  while (this->commands_.pop(command)) {
    Message message;
    message.type = Message::Type::RESULT;
    message.result = this->core_.execute(command, now);
    if (command.call != 0)
      this->send_(message);
  }
  // Only now: what was queued while stalled has been answered long ago and must not happen late.
  if (stalled)
    this->core_.release(HOLD_STALL, now);
  this->core_.tick(now);
  for (uint8_t i = 0; i < static_cast<uint8_t>(Code::COUNT); i++)
    this->refusals_[i].store(this->core_.refusals(static_cast<Code>(i)), std::memory_order_relaxed);
  this->link_losses_.store(this->core_.link_losses(), std::memory_order_relaxed);
  this->heartbeat_.fetch_add(1, std::memory_order_relaxed);
  return this->reported_;
}

}  // namespace esphome::mimiclaw_io
