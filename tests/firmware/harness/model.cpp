#include "checker.h"

namespace harness {

static uint64_t us(uint32_t ms) { return static_cast<uint64_t>(ms) * 1000; }

void Checker::model_set(uint8_t channel, bool on) {
  Model &model = this->model_[channel];
  this->model_wrote_ = true;
  if (model.on != on)
    model.changed_us = this->now_;
  model.on = on;
  model.end_us = UINT64_MAX;
  model.max_on = false;
}

void Checker::model_safe() {
  for (uint8_t i = 0; i < this->config_.size(); i++) {
    if (this->config_[i].drives())
      this->model_set(i, this->config_[i].safe);
  }
}

bool Checker::model_held() const {
  return this->booting_ || this->held_ || (this->lost_ && !this->device_.link_keep);
}

// Everything that happens by itself up to now: pulses and max_on_time end, the link is lost, a boot ends.
void Checker::model_time() {
  for (uint8_t i = 0; i < this->config_.size(); i++) {
    if (this->now_ < this->model_[i].end_us)
      continue;
    if (this->model_[i].max_on)
      this->max_on_expected_++;
    this->model_set(i, false);
  }
  if (this->device_.link_timeout_ms != 0 && !this->lost_ &&
      this->now_ - this->link_us_ > us(this->device_.link_timeout_ms)) {
    this->lost_ = true;
    if (!this->device_.link_keep)
      this->model_safe();
  }
  if (!this->booting_ || this->now_ < this->boot_end_us_)
    return;
  this->booting_ = false;
  if (this->model_held())
    return;
  for (uint8_t i = 0; i < this->config_.size(); i++) {
    const io::ChannelConfig &config = this->config_[i];
    if (!config.drives() || !config.restore)
      continue;
    const bool on = (this->restored_ >> i & 1) != 0;
    if (on == this->model_[i].on || (on && this->model_blocked(i) != io::NO_CHANNEL))
      continue;
    this->model_set(i, on);
  }
}

uint8_t Checker::model_blocked(uint8_t channel) const {
  for (uint8_t i = 0; this->config_[channel].group != 0 && i < this->config_.size(); i++) {
    if (i != channel && this->config_[i].group == this->config_[channel].group &&
        (this->model_[i].on || this->pin_on(i)))
      return i;
  }
  return io::NO_CHANNEL;
}

io::Code Checker::model_on(const io::Command &command, uint32_t duration_ms) {
  const io::ChannelConfig &config = this->config_[command.channel];
  Model &model = this->model_[command.channel];
  const uint64_t since = model.on ? model.changed_us : this->now_;
  const uint32_t longest = config.max_on_ms != 0 ? config.max_on_ms : config.pulse_ms;
  if (duration_ms != 0) {
    const uint64_t end = this->now_ + us(duration_ms);
    if (longest != 0 && end > since + us(longest))
      return io::Code::OVER_MAX;
    if (end < since + us(config.min_on_ms))
      return io::Code::BAD_DURATION;
  }
  if (!model.on) {
    if (this->now_ < model.changed_us + us(config.min_off_ms)) {
      this->wait_expected_ = static_cast<uint32_t>((model.changed_us + us(config.min_off_ms) - this->now_ + 999) / 1000);
      return io::Code::MIN_OFF;
    }
    this->other_expected_ = this->model_blocked(command.channel);
    if (this->other_expected_ != io::NO_CHANNEL)
      return io::Code::INTERLOCK;
    this->model_set(command.channel, true);
  }
  model.max_on = duration_ms == 0 && config.max_on_ms != 0;
  model.end_us = UINT64_MAX;
  if (duration_ms != 0) {
    model.end_us = this->now_ + us(duration_ms);
  } else if (model.max_on) {
    model.end_us = since + us(config.max_on_ms);
  }
  return io::Code::OK;
}

io::Code Checker::model_command(const io::Command &command) {
  this->wait_expected_ = 0;
  this->model_wrote_ = false;
  this->other_expected_ = io::NO_CHANNEL;
  io::Code code = io::Code::OK;
  if (command.channel >= this->config_.size()) {
    code = io::Code::UNKNOWN_CHANNEL;
  } else if (command.op != io::Op::READ) {
    const io::ChannelConfig &config = this->config_[command.channel];
    const Model &model = this->model_[command.channel];
    const bool wants_on = command.op == io::Op::ON || command.op == io::Op::PULSE ||
                          (command.op == io::Op::TOGGLE && !model.on);
    const bool pulse = command.op == io::Op::ON || command.op == io::Op::PULSE;
    if (command.op == io::Op::UNKNOWN) {
      code = io::Code::BAD_STATE;
    } else if (!config.drives()) {
      code = io::Code::WRONG_KIND;
    } else if (command.actor == 0 || (config.actors & command.actor) == 0) {
      code = io::Code::ACTOR_DENIED;
    } else if (command.duration_ms < 0 || command.duration_ms > 86400000) {
      code = io::Code::BAD_DURATION;
    } else if (this->held_) {
      code = io::Code::SHUTTING_DOWN;
    } else if (this->booting_) {
      code = io::Code::NOT_READY;
    } else if (this->model_held()) {
      code = io::Code::LINK_LOST;
    } else if (command.duration_ms != 0 && !pulse) {
      code = io::Code::BAD_DURATION;
    } else if (!wants_on) {
      const uint64_t ready = model.changed_us + us(config.min_on_ms);
      if (model.on && this->now_ < ready) {
        this->wait_expected_ = static_cast<uint32_t>((ready - this->now_ + 999) / 1000);
        code = io::Code::MIN_ON;
      } else {
        this->model_set(command.channel, false);
      }
    } else if (command.op == io::Op::PULSE && command.duration_ms == 0 && config.pulse_ms == 0) {
      code = io::Code::BAD_DURATION;
    } else if (config.pulse_ms == 0 || command.duration_ms != 0 || !model.on) {
      code = this->model_on(command, command.duration_ms != 0 ? static_cast<uint32_t>(command.duration_ms)
                                                              : config.pulse_ms);
    }
  }
  if (code != io::Code::OK) {
    this->refused_expected_++;
    return code;
  }
  // A pin that does not follow a write is told.
  if (command.op != io::Op::READ) {
    const Pin &pin = this->pins_[command.channel];
    const bool on = this->model_[command.channel].on;
    if ((pin.stuck || !this->model_wrote_) && this->pin_on(command.channel) != on) {
      this->refused_expected_++;
      return io::Code::NOT_MOVED;
    }
  }
  return code;
}

}  // namespace harness
