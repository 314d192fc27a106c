#include "io_core.h"

#include <cmath>

namespace esphome::mimiclaw_io {

static constexpr uint64_t US_PER_MS = 1000;
static uint64_t us(uint32_t ms) { return static_cast<uint64_t>(ms) * US_PER_MS; }
// Rounded up, so "wait 0 ms" is never said of something that has not come yet.
static uint32_t ms_until(uint64_t then, uint64_t now) {
  return then <= now ? 0 : static_cast<uint32_t>((then - now + US_PER_MS - 1) / US_PER_MS);
}

Result IoCore::execute(const Command &command, uint64_t now) {
  // A timer that has run out by now comes before the command, whatever the order of arrival.
  this->expire_(now);
  this->check_link_(now);
  Result result;
  result.call = command.call;
  result.channel = command.channel;
  if (command.channel >= this->count_) {
    this->refuse_(result, Code::UNKNOWN_CHANNEL, command.actor);
    return result;
  }
  if (command.op != Op::READ)
    this->write_(command, now, result);
  this->read_back_(command, now, result);
  return result;
}

Code IoCore::hold_code_() const {
  if ((this->holds_ & HOLD_SHUTDOWN) != 0)
    return Code::SHUTTING_DOWN;
  if ((this->holds_ & HOLD_STALL) != 0)
    return Code::STALLED;
  if ((this->holds_ & HOLD_BOOT) != 0)
    return Code::NOT_READY;
  return Code::LINK_LOST;
}

void IoCore::write_(const Command &command, uint64_t now, Result &result) {
  const ChannelConfig &config = this->config_[command.channel];
  const bool on = this->state_[command.channel].on;
  if (command.op == Op::UNKNOWN)
    return this->refuse_(result, Code::BAD_STATE, command.actor);
  if (!config.drives())
    return this->refuse_(result, Code::WRONG_KIND, command.actor);
  if (command.actor == 0 || (config.actors & command.actor) != command.actor)
    return this->refuse_(result, Code::ACTOR_DENIED, command.actor);
  if (command.duration_ms < 0 || command.duration_ms > MAX_DURATION_MS)
    return this->refuse_(result, Code::BAD_DURATION, command.actor);
  if (this->holds_ != HOLD_NONE)
    return this->refuse_(result, this->hold_code_(), command.actor);

  Op op = command.op;
  if (op == Op::TOGGLE)
    op = on ? Op::OFF : Op::ON;
  // Only "on" and "pulse" can last a stated time.
  if (command.duration_ms != 0 && (op == Op::OFF || command.op == Op::TOGGLE))
    return this->refuse_(result, Code::BAD_DURATION, command.actor);
  if (op == Op::OFF)
    return this->turn_off_(command, now, result);
  if (op == Op::PULSE && command.duration_ms == 0 && !config.momentary())
    return this->refuse_(result, Code::BAD_DURATION, command.actor);
  // A second press while the pulse runs neither lengthens it nor fails.
  if (config.momentary() && command.duration_ms == 0 && on)
    return;
  this->turn_on_(command, now, result);
}

void IoCore::turn_on_(const Command &command, uint64_t now, Result &result) {
  const uint8_t channel = command.channel;
  const ChannelConfig &config = this->config_[channel];
  ChannelState &state = this->state_[channel];
  const uint64_t since = state.on ? state.changed_us : now;
  const uint32_t duration_ms = command.duration_ms != 0 ? command.duration_ms : config.pulse_ms;
  if (duration_ms != 0) {
    // A momentary channel without max_on_time is never held longer than its own pulse.
    const uint32_t max_ms = config.max_on_ms != 0 ? config.max_on_ms : config.pulse_ms;
    const uint64_t latest = since + us(max_ms);
    if (max_ms != 0 && now + us(duration_ms) > latest) {
      result.limit_ms = static_cast<uint32_t>((latest - now) / US_PER_MS);
      return this->refuse_(result, Code::OVER_MAX, command.actor);
    }
    const uint64_t earliest = since + us(config.min_on_ms);
    if (now + us(duration_ms) < earliest) {
      result.limit_ms = ms_until(earliest, now);
      return this->refuse_(result, Code::BAD_DURATION, command.actor);
    }
  }
  if (!state.on) {
    const uint64_t ready = state.changed_us + us(config.min_off_ms);
    if (now < ready) {
      result.wait_ms = ms_until(ready, now);
      return this->refuse_(result, Code::MIN_OFF, command.actor);
    }
    result.other = this->blocked_by_(channel);
    if (result.other != NO_CHANNEL)
      return this->refuse_(result, Code::INTERLOCK, command.actor);
    this->apply_(channel, true, now);
  }
  // Switching on again never lengthens max_on_time; a plain "on" ends a running pulse's claim.
  state.max_on_end = duration_ms == 0 && config.max_on_ms != 0;
  if (duration_ms != 0) {
    state.end_us = now + us(duration_ms);
  } else {
    state.end_us = state.max_on_end ? since + us(config.max_on_ms) : NEVER_US;
  }
}

void IoCore::turn_off_(const Command &command, uint64_t now, Result &result) {
  const ChannelState &state = this->state_[command.channel];
  if (state.on) {
    const uint64_t ready = state.changed_us + us(this->config_[command.channel].min_on_ms);
    if (now < ready) {
      result.wait_ms = ms_until(ready, now);
      return this->refuse_(result, Code::MIN_ON, command.actor);
    }
  }
  this->apply_(command.channel, false, now);
}

void IoCore::refuse_(Result &result, Code code, uint8_t actor) {
  result.code = code;
  this->refusals_[static_cast<uint8_t>(code)]++;
  Event event;
  event.type = code == Code::INTERLOCK ? EventType::INTERLOCK : EventType::REFUSED;
  event.code = code;
  event.channel = result.channel;
  event.other = result.other;
  event.actor = actor;
  event.ms = result.wait_ms != 0 ? result.wait_ms : result.limit_ms;
  this->sink_.on_event(event);
}

void IoCore::read_back_(const Command &command, uint64_t now, Result &result) {
  const ChannelConfig &config = this->config_[result.channel];
  const ChannelState &state = this->state_[result.channel];
  if (config.kind == Kind::ANALOG) {
    result.value = state.value;
    result.known = !std::isnan(state.value);
    if (!result.known && result.code == Code::OK)
      result.code = Code::NOT_READY;
    return;
  }
  result.known = true;
  if (config.kind == Kind::INPUT) {
    result.state = state.on;
    return;
  }
  result.state = this->is_on_(result.channel);
  // The pin is the truth: a write that did not move it is not called a success.
  if (command.op != Op::READ && result.code == Code::OK && result.state != state.on)
    this->refuse_(result, Code::NOT_MOVED, command.actor);
  if (state.end_us != NEVER_US)
    result.deadline_ms = ms_until(state.end_us, now);
}

}  // namespace esphome::mimiclaw_io
