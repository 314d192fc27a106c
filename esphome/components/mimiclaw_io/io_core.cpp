#include "io_core.h"

#include <cmath>
#include <initializer_list>

namespace esphome::mimiclaw_io {

static constexpr uint64_t US_PER_MS = 1000;

static uint64_t us(uint32_t ms) { return static_cast<uint64_t>(ms) * US_PER_MS; }

void IoCore::begin(const ChannelConfig *channels, uint8_t count, const DeviceConfig &device, uint64_t restored,
                   uint64_t now) {
  this->config_ = channels;
  this->count_ = count < MAX_CHANNELS ? count : MAX_CHANNELS;
  this->device_ = device;
  this->restored_ = restored;
  this->boot_end_us_ = now + us(device.boot_delay_ms);
  this->link_us_ = now;
  this->holds_ = HOLD_BOOT;
  for (uint8_t i = 0; i < this->count_; i++) {
    this->state_[i] = ChannelState{};
    // What happened before the boot is unknown, so every minimum time starts here.
    this->state_[i].changed_us = this->state_[i].sample_us = now;
    this->state_[i].value = this->state_[i].reported_value = NAN;
  }
  // Pins may have kept their levels through a restart: here too, off comes before on.
  this->all_safe_(now);
  for (uint8_t i = 0; i < this->count_; i++) {
    ChannelState &state = this->state_[i];
    if (this->config_[i].kind == Kind::ANALOG)
      continue;
    if (this->config_[i].kind == Kind::INPUT)
      state.on = state.candidate = this->is_on_(i);
    state.reported = state.on;
    this->sink_.on_state(i, state.on, 0.0f);
  }
  if (device.boot_delay_ms == 0)
    this->tick(now);
}

bool IoCore::is_on_(uint8_t channel) { return this->pins_.read(channel) != this->config_[channel].inverted; }

void IoCore::report_(uint8_t channel) {
  ChannelState &state = this->state_[channel];
  if (state.reported == state.on)
    return;
  state.reported = state.on;
  this->sink_.on_state(channel, state.on, 0.0f);
}

void IoCore::apply_(uint8_t channel, bool on, uint64_t now) {
  const ChannelConfig &config = this->config_[channel];
  ChannelState &state = this->state_[channel];
  this->pins_.write(channel, on != config.inverted);
  state.end_us = NEVER_US;
  state.max_on_end = false;
  if (state.on == on)
    return;
  state.on = on;
  state.changed_us = now;
  if (on && config.max_on_ms != 0) {
    state.end_us = now + us(config.max_on_ms);
    state.max_on_end = true;
  }
  this->report_(channel);
}

void IoCore::all_safe_(uint64_t now) {
  // Off first: a channel whose safe state is on may share an interlock with one that is on now.
  for (bool wanted : {false, true}) {
    for (uint8_t i = 0; i < this->count_; i++) {
      if (!this->config_[i].drives() || this->config_[i].safe != wanted)
        continue;
      this->apply_(i, wanted, now);
    }
  }
}

void IoCore::enter_hold_(Hold reason, uint64_t now) {
  const bool first = (this->holds_ & reason) == 0;
  this->holds_ |= reason;
  this->all_safe_(now);
  if (first) {
    Event event;
    event.type = EventType::FAIL_SAFE;
    event.hold = reason;
    this->sink_.on_event(event);
  }
}

void IoCore::hold(Hold reason, uint64_t now) {
  this->expire_(now);
  this->enter_hold_(reason, now);
}

void IoCore::release(Hold reason, uint64_t now) {
  this->expire_(now);
  this->holds_ &= static_cast<uint8_t>(~reason);
}

void IoCore::restore_(uint64_t now) {
  for (uint8_t i = 0; i < this->count_; i++) {
    const ChannelConfig &config = this->config_[i];
    if (!config.drives() || !config.restore || config.momentary())
      continue;
    const bool on = (this->restored_ >> i & 1) != 0;
    if (on && this->blocked_by_(i) != NO_CHANNEL)
      continue;
    if (on != this->state_[i].on)
      this->apply_(i, on, now);
  }
}

uint8_t IoCore::blocked_by_(uint8_t channel) {
  const uint8_t group = this->config_[channel].group;
  if (group == 0)
    return NO_CHANNEL;
  for (uint8_t i = 0; i < this->count_; i++) {
    if (i == channel || this->config_[i].group != group)
      continue;
    // The pin is asked as well: a relay whose pin does not follow must still keep its partner off.
    if (this->state_[i].on || this->is_on_(i))
      return i;
  }
  return NO_CHANNEL;
}

void IoCore::expire_(uint64_t now) {
  for (uint8_t i = 0; i < this->count_; i++) {
    ChannelState &state = this->state_[i];
    if (now < state.end_us)
      continue;
    const bool max_on = state.max_on_end;
    this->apply_(i, false, now);
    if (max_on) {
      Event event;
      event.type = EventType::MAX_ON;
      event.channel = i;
      event.ms = this->config_[i].max_on_ms;
      this->sink_.on_event(event);
    }
  }
}

void IoCore::check_link_(uint64_t now) {
  if (this->device_.link_timeout_ms == 0 || this->link_lost_)
    return;
  if (now - this->link_us_ <= us(this->device_.link_timeout_ms))
    return;
  this->link_lost_ = true;
  this->link_losses_++;
  Event event;
  event.type = EventType::LINK_LOST;
  event.ms = this->device_.link_timeout_ms;
  this->sink_.on_event(event);
  if (!this->device_.link_keep)
    this->enter_hold_(HOLD_LINK, now);
}

void IoCore::link_seen(uint64_t now) {
  this->link_us_ = now;
  if (!this->link_lost_)
    return;
  this->link_lost_ = false;
  this->holds_ &= static_cast<uint8_t>(~HOLD_LINK);
  Event event;
  event.type = EventType::LINK_BACK;
  this->sink_.on_event(event);
}

void IoCore::tick(uint64_t now) {
  this->expire_(now);
  this->check_link_(now);
  if ((this->holds_ & HOLD_BOOT) != 0 && now >= this->boot_end_us_) {
    this->holds_ &= static_cast<uint8_t>(~HOLD_BOOT);
    // Restoring under another hold would undo it.
    if (this->holds_ == HOLD_NONE)
      this->restore_(now);
  }
  this->sample_inputs_(now);
}

void IoCore::sample_inputs_(uint64_t now) {
  for (uint8_t i = 0; i < this->count_; i++) {
    const ChannelConfig &config = this->config_[i];
    ChannelState &state = this->state_[i];
    if (config.kind == Kind::ANALOG) {
      if (now >= state.sample_us)
        this->sample_analog_(i, now);
      continue;
    }
    if (config.kind != Kind::INPUT)
      continue;
    const bool level = this->is_on_(i);
    if (level != state.candidate) {
      state.candidate = level;
      state.candidate_us = now;
    }
    if (state.candidate != state.on && now - state.candidate_us >= us(config.debounce_ms)) {
      state.on = state.candidate;
      state.changed_us = now;
      this->report_(i);
    }
  }
}

void IoCore::sample_analog_(uint8_t channel, uint64_t now) {
  const ChannelConfig &config = this->config_[channel];
  ChannelState &state = this->state_[channel];
  state.sample_us = now + us(config.sample_ms);
  const float volts = this->pins_.read_volts(channel);
  if (std::isnan(volts)) {
    state.value = NAN;
  } else {
    float part = (volts - config.volt_low) / (config.volt_high - config.volt_low);
    part = part < 0.0f ? 0.0f : part > 1.0f ? 1.0f : part;
    // Two decimals are more than a 12-bit converter knows.
    state.value = std::round((config.value_low + part * (config.value_high - config.value_low)) * 100.0f) / 100.0f;
  }
  const bool was = std::isnan(state.reported_value);
  const bool is = std::isnan(state.value);
  if (was != is || (!is && std::fabs(state.value - state.reported_value) >= config.delta)) {
    state.reported_value = state.value;
    this->sink_.on_state(channel, false, state.value);
  }
}

uint64_t IoCore::next_deadline() const {
  uint64_t next = NEVER_US;
  for (uint8_t i = 0; i < this->count_; i++) {
    if (this->state_[i].end_us < next)
      next = this->state_[i].end_us;
  }
  return next;
}

}  // namespace esphome::mimiclaw_io
