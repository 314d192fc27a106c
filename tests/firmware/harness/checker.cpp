#include "checker.h"

#include <cstdio>

namespace harness {

static uint64_t us(uint32_t ms) { return static_cast<uint64_t>(ms) * 1000; }

void Checker::fail(const std::string &text) {
  if (!this->violation_.empty())
    return;
  char when[48];
  snprintf(when, sizeof(when), "t=%.3f ms: ", static_cast<double>(this->now_) / 1000.0);
  this->violation_ = when + text;
}

void Checker::channel(const io::ChannelConfig &config) {
  this->config_.push_back(config);
  this->pins_.emplace_back();
  this->model_.emplace_back();
  this->pins_.back().level = this->pins_.back().driven = config.inverted;
}

void Checker::begin(uint64_t restored) {
  this->restored_ = restored;
  this->cores_.emplace_back(*this, *this);
  this->core_ = &this->cores_.back();
  this->boot_end_us_ = this->now_ + us(this->device_.boot_delay_ms);
  this->booting_ = true;
  this->link_us_ = this->now_;
  this->lost_ = this->held_ = false;
  for (uint8_t i = 0; i < this->config_.size(); i++) {
    this->pins_[i].written = false;
    this->pins_[i].off_us = this->now_;
    this->pins_[i].sampled = this->pins_[i].reported = this->pins_[i].level;
    this->pins_[i].sampled_us = this->now_;
    this->model_[i] = Model{};
    this->model_[i].on = this->config_[i].drives() && this->config_[i].safe;
    this->model_[i].changed_us = this->now_;
  }
  if (this->device_.boot_delay_ms == 0)
    this->model_time();
  this->cause_ = Cause::BEGIN;
  this->core_->begin(this->config_.data(), static_cast<uint8_t>(this->config_.size()), this->device_, restored,
                     this->now_);
  this->after();
}

void Checker::restart() {
  uint64_t on = 0;
  for (uint8_t i = 0; i < this->config_.size(); i++)
    on |= static_cast<uint64_t>(this->model_[i].on) << i;
  this->cores_.clear();
  this->begin(on);
}

// ---- what the pins must never show ----

void Checker::write(uint8_t channel, bool level) {
  Pin &pin = this->pins_[channel];
  const io::ChannelConfig &config = this->config_[channel];
  if (!config.drives())
    this->fail("an input was driven");
  if (this->cause_ == Cause::BEGIN && !pin.written && (level != config.inverted) != config.safe)
    this->fail("the first level after a boot is not the safe one");
  pin.written = true;
  if (pin.stuck && pin.driven != level)
    (level != config.inverted ? pin.on_us : pin.off_us) = this->now_;
  pin.driven = level;
  if (pin.stuck || pin.level == level)
    return;
  pin.level = level;
  this->check_edge(channel, level != config.inverted);
}

void Checker::check_edge(uint8_t channel, bool on) {
  Pin &pin = this->pins_[channel];
  const io::ChannelConfig &config = this->config_[channel];
  const std::string who = "channel " + std::to_string(channel);
  const bool commanded = this->cause_ == Cause::COMMAND && this->running_.channel == channel;
  if (on) {
    pin.on_us = this->now_;
    for (uint8_t i = 0; config.group != 0 && i < this->config_.size(); i++) {
      if (i != channel && this->config_[i].group == config.group && this->pin_on(i))
        this->fail(who + " and channel " + std::to_string(i) + " are on in one interlock");
    }
    if (commanded && !pin.unsure && this->now_ - pin.off_us < us(config.min_off_ms))
      this->fail(who + " went on before min_off_time was over");
    if (!commanded && !config.safe && !config.restore)
      this->fail(who + " went on by itself");
    if (commanded && (config.actors & this->running_.actor) == 0)
      this->fail(who + " was switched by an actor that may not");
    return;
  }
  if (commanded && !pin.unsure && this->now_ - pin.on_us < us(config.min_on_ms))
    this->fail(who + " went off before min_on_time was over");
  pin.off_us = this->now_;
}

void Checker::after() {
  this->cause_ = Cause::NONE;
  for (uint8_t i = 0; i < this->config_.size(); i++) {
    const Pin &pin = this->pins_[i];
    const io::ChannelConfig &config = this->config_[i];
    if (!config.drives() || pin.stuck)
      continue;
    const std::string who = "channel " + std::to_string(i);
    const bool on = this->pin_on(i);
    if (on && config.max_on_ms != 0 && this->now_ - pin.on_us >= us(config.max_on_ms))
      this->fail(who + " is on longer than max_on_time");
    if (this->model_held() && on != config.safe)
      this->fail(who + " is not in its safe state");
    if (on != this->model_[i].on)
      this->fail(who + (on ? " is on, expected off" : " is off, expected on"));
    if (this->core_->commanded(i) != this->model_[i].on)
      this->fail(who + ": the core's own state differs");
  }
  if (this->max_on_events_ != this->max_on_expected_)
    this->fail("max_on_time ended " + std::to_string(this->max_on_expected_) + " times, " +
               std::to_string(this->max_on_events_) + " events said so");
  if (this->refused_events_ != this->refused_expected_)
    this->fail("a refusal without its event, or an event without its refusal");
  uint64_t next = UINT64_MAX;
  for (const Model &model : this->model_)
    next = model.end_us < next ? model.end_us : next;
  if (this->core_->next_deadline() != next)
    this->fail("next_deadline is wrong");
}

void Checker::on_state(uint8_t channel, bool state, float /*value*/) {
  const io::ChannelConfig &config = this->config_[channel];
  Pin &pin = this->pins_[channel];
  if (config.kind != io::Kind::INPUT || this->cause_ == Cause::BEGIN)
    return;
  const bool level = state != config.inverted;
  if (level != pin.sampled || this->now_ - pin.sampled_us < us(config.debounce_ms))
    this->fail("input " + std::to_string(channel) + " was reported before it was steady");
  pin.reported = level;
}

void Checker::on_event(const io::Event &event) {
  if (event.type == io::EventType::MAX_ON)
    this->max_on_events_++;
  if (event.type == io::EventType::REFUSED || event.type == io::EventType::INTERLOCK)
    this->refused_events_++;
}

// ---- the program ----

void Checker::step() {
  for (uint8_t i = 0; i < this->config_.size(); i++) {
    Pin &pin = this->pins_[i];
    if (this->config_[i].kind == io::Kind::INPUT && pin.sampled != pin.level) {
      pin.sampled = pin.level;
      pin.sampled_us = this->now_;
    }
  }
  this->cause_ = Cause::TIME;
  if (this->link_up_) {
    this->core_->link_seen(this->now_);
    this->link_us_ = this->now_;
    this->lost_ = false;
  }
  this->model_time();
  this->core_->tick(this->now_);
  this->after();
  this->ticks_done_++;
  for (uint8_t i = 0; i < this->config_.size(); i++) {
    const Pin &pin = this->pins_[i];
    if (this->config_[i].kind == io::Kind::INPUT && pin.reported != pin.sampled &&
        this->now_ - pin.sampled_us >= us(this->config_[i].debounce_ms))
      this->fail("input " + std::to_string(i) + " is steady but was not reported");
  }
}

void Checker::ticks(uint32_t count) {
  for (uint32_t i = 0; i < count && this->violation_.empty(); i++) {
    this->now_ += this->device_.tick_us;
    this->step();
  }
}

void Checker::late(uint32_t by_us) {
  this->now_ += by_us;
  this->step();
}

void Checker::hold(bool on) {
  this->model_time();
  this->cause_ = Cause::HOLD;
  this->held_ = on;
  if (on) {
    this->model_safe();
    this->core_->hold(io::HOLD_SHUTDOWN, this->now_);
  } else {
    this->core_->release(io::HOLD_SHUTDOWN, this->now_);
  }
  this->after();
}

void Checker::input(uint8_t channel, bool level) { this->pins_[channel].level = level; }

void Checker::stick(uint8_t channel, bool stuck) {
  Pin &pin = this->pins_[channel];
  pin.stuck = stuck;
  pin.unsure = true;
  if (stuck || pin.level == pin.driven)
    return;
  // Free again, the pin shows what it was told meanwhile.
  pin.level = pin.driven;
  (this->pin_on(channel) ? pin.on_us : pin.off_us) = this->now_;
}

void Checker::command(uint8_t channel, io::Op op, uint8_t actor, int32_t duration_ms) {
  // Time first, so that what a timer does is not taken for what the command does.
  this->step();
  io::Command command;
  command.call = 7;
  command.channel = channel;
  command.op = op;
  command.actor = actor;
  command.duration_ms = duration_ms;
  std::vector<bool> before;
  for (const Pin &pin : this->pins_)
    before.push_back(pin.level);
  const io::Code expected = this->model_command(command);
  this->cause_ = Cause::COMMAND;
  this->running_ = command;
  const io::Result result = this->core_->execute(command, this->now_);
  this->commands_done_++;
  if (result.code != expected)
    this->fail(std::string("answer ") + io::code_name(result.code) + ", expected " + io::code_name(expected));
  if (result.call != command.call)
    this->fail("the answer belongs to another call");
  if (expected == io::Code::OK) {
    this->accepted_++;
  } else if (expected != io::Code::NOT_MOVED) {
    for (uint8_t i = 0; i < before.size(); i++) {
      if (before[i] != this->pins_[i].level)
        this->fail("a refused command moved channel " + std::to_string(i));
    }
  }
  if (channel < this->config_.size()) {
    if (this->config_[channel].drives() && result.state != this->pin_on(channel))
      this->fail("the answer's state is not the pin's");
    if (result.wait_ms != this->wait_expected_)
      this->fail("wait_ms " + std::to_string(result.wait_ms) + ", expected " + std::to_string(this->wait_expected_));
    if (result.other != this->other_expected_)
      this->fail("the answer names the wrong channel of the interlock");
    const uint64_t end = this->model_[channel].end_us;
    const uint64_t left = end == UINT64_MAX ? 0 : (end - this->now_ + 999) / 1000;
    if (result.deadline_ms != left)
      this->fail("deadline_ms " + std::to_string(result.deadline_ms) + ", expected " + std::to_string(left));
  }
  this->after();
}

}  // namespace harness
