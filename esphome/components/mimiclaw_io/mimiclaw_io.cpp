#include "mimiclaw_io.h"

#include <cinttypes>
#include <cmath>

#include "esphome/components/api/api_server.h"
#include "esphome/core/application.h"
#include "esphome/core/hal.h"
#include "esphome/core/log.h"
#include "esphome/core/wake.h"
#ifdef USE_MIMICLAW_TWIN
#include "twin_control.h"
#endif

namespace esphome::mimiclaw_io {

static const char *const TAG = "mimiclaw_io";

// How long a shutdown waits for the I/O task to report every relay safe; it takes one tick.
static constexpr uint32_t SHUTDOWN_WAIT_MS = 50;

// A client gives a command up after a second. What waited in a socket while the main loop hung may be
// older than that, and its sender was told that it failed: it must not move a relay now.
static constexpr uint32_t CLIENT_PATIENCE_MS = 900;
// Long enough to read what had gathered in every client's socket meanwhile.
static constexpr uint32_t LATE_WINDOW_MS = 100;

void MimiClawIO::wake_main() { wake_loop_threadsafe(); }

void MimiClawIO::setup() {
#ifdef USE_MIMICLAW_TWIN
  this->setup_twin_();
#endif
  this->pins_.begin(this->channels_.data(), this->channel_count());
  this->load_restored_();
  this->states_.assign(this->channels_.size(), false);
  this->values_.assign(this->channels_.size(), NAN);
  // Safe states are written here, before the task exists and before anything else is set up.
  this->runner_.begin(this->channels_.data(), this->channel_count(), this->device_, this->restored_, IoTask::now_us());
  this->task_config_.tick_us = this->device_.tick_us;
  if (!this->task_.start(this->task_config_)) {
    ESP_LOGE(TAG, "The I/O task did not start; every channel stays in its safe state");
    this->pins_.latch_safe();
    this->mark_failed();
    return;
  }
#ifdef USE_MIMICLAW_TWIN
  this->start_twin_();
#endif
  this->setup_actions_();
#ifdef USE_OTA_STATE_LISTENER
  ota::get_global_ota_callback()->add_global_state_listener(this);
#endif
  this->heartbeat_ms_ = millis();
}

void MimiClawIO::watch_loop_() {
  const uint32_t now = millis();
  if (this->loop_ms_ != 0 && now - this->loop_ms_ > CLIENT_PATIENCE_MS)
    this->late_until_ms_ = now + LATE_WINDOW_MS;
  this->loop_ms_ = now;
}

bool MimiClawIO::late_() const {
  const uint32_t now = millis();
  return (this->loop_ms_ != 0 && now - this->loop_ms_ > CLIENT_PATIENCE_MS) ||
         static_cast<int32_t>(this->late_until_ms_ - now) > 0;
}

void MimiClawIO::loop() {
  this->watch_loop_();
#ifdef USE_MIMICLAW_TWIN
  this->twin_->main_loop();
#endif
  this->watch_link_();
  this->drain_();
  if (!this->unsent_.empty())
    this->send_events_();
  this->watch_task_();
  if (this->restore_check_ && !this->runner_.holding())
    this->check_restored_();
  if (this->restore_dirty_)
    this->save_restored_();
  const uint32_t now = millis();
  if (now - this->last_diagnostics_ms_ >= this->diagnostics_interval_ms_) {
    this->last_diagnostics_ms_ = now;
    this->publish_diagnostics_();
  }
}

void MimiClawIO::watch_task_() {
  const uint32_t beat = this->runner_.heartbeat();
  const uint32_t now = millis();
  if (beat != this->last_heartbeat_) {
    this->last_heartbeat_ = beat;
    this->heartbeat_ms_ = now;
    this->stalled_ = false;
    return;
  }
  if (this->stalled_ || now - this->heartbeat_ms_ < this->stall_timeout_ms_)
    return;
  this->stalled_ = true;
  ESP_LOGE(TAG, "The I/O task has stopped; every relay is forced into its safe state");
  this->runner_.declare_stalled();
  Event event;
  event.type = EventType::STALLED;
  event.code = Code::STALLED;
  event.hold = HOLD_STALL;
  this->publish_event_(event);
  // The queued commands will be refused when the task wakes; nobody has to wait for that.
  for (const Pending &pending : this->pending_) {
    Result result;
    result.code = Code::STALLED;
    result.channel = this->find_channel(pending.channel);
    this->answer_(pending, result);
  }
  this->pending_.clear();
}

void MimiClawIO::drain_() {
  Message message;
  while (this->runner_.poll(message)) {
    switch (message.type) {
      case Message::Type::RESULT:
        for (size_t i = 0; i < this->pending_.size(); i++) {
          if (this->pending_[i].call != message.result.call)
            continue;
          const Pending pending = std::move(this->pending_[i]);
          if (i + 1 != this->pending_.size())
            this->pending_[i] = std::move(this->pending_.back());
          this->pending_.pop_back();
          this->answer_(pending, message.result);
          break;
        }
        break;
      case Message::Type::STATE:
        this->publish_state_(message.channel, message.state, message.value);
        break;
      case Message::Type::EVENT:
        this->publish_event_(message.event);
        break;
    }
  }
  if (this->runner_.take_overflow()) {
    for (uint8_t i = 0; i < this->channel_count(); i++)
      this->publish_state_(i, this->runner_.live_state(i), this->runner_.live_value(i));
  }
}

void MimiClawIO::command(uint8_t channel, Op op, Actor actor) {
  if (this->is_failed())
    return;
  Command command;
  command.channel = channel;
  command.op = op;
  command.actor = static_cast<uint8_t>(actor);
  const bool stalled = this->stalled_ || this->late_();
  if (stalled || !this->runner_.submit(command)) {
    const Code code = stalled ? Code::STALLED : Code::QUEUE_FULL;
    this->refused_here_[static_cast<uint8_t>(code)]++;
    ESP_LOGW(TAG, "'%s' refused: %s", this->channels_[channel].id, code_name(code));
    return;
  }
  this->task_.notify();
}

void MimiClawIO::publish_state_(uint8_t channel, bool state, float value) {
  const ChannelConfig &config = this->channels_[channel];
  const ChannelInfo &info = this->info_[channel];
  this->states_[channel] = state;
  this->values_[channel] = value;
  if (config.kind == Kind::ANALOG) {
    info.sensor_entity->publish_state(value);
    return;
  }
  if (config.kind == Kind::INPUT) {
    info.binary_sensor_entity->publish_state(state);
    return;
  }
  if (info.switch_entity != nullptr)
    info.switch_entity->publish_state(state);
  // The safe state before a restart is not what the restart should bring back.
  if (config.restore && !this->shutting_down_ && ((this->restored_ >> channel & 1) != 0) != state) {
    this->restored_ ^= uint64_t{1} << channel;
    this->restore_dirty_ = true;
  }
}

void MimiClawIO::load_restored_() {
  // Keyed by the ids in their order: a changed channel list starts afresh instead of mixing relays up.
  uint32_t hash = FNV1_OFFSET_BASIS;
  bool any = false;
  for (const ChannelConfig &config : this->channels_) {
    hash = fnv1_hash_extend(hash, config.id);
    any = any || config.restore;
  }
  if (!any)
    return;
  this->restore_pref_ = global_preferences->make_preference<uint64_t>(hash, true);
  if (!this->restore_pref_.load(&this->restored_))
    this->restored_ = 0;
}

void MimiClawIO::check_restored_() {
  // An update that failed has left the relays safe, and that is their state now.
  this->restore_check_ = false;
  for (uint8_t i = 0; i < this->channel_count(); i++) {
    const uint64_t bit = uint64_t{1} << i;
    if (!this->channels_[i].restore || ((this->restored_ & bit) != 0) == this->runner_.live_state(i))
      continue;
    this->restored_ ^= bit;
    this->restore_dirty_ = true;
  }
}

void MimiClawIO::save_restored_() {
  this->restore_dirty_ = false;
  this->restore_pref_.save(&this->restored_);
}

void MimiClawIO::on_safe_shutdown() {
  if (this->is_failed())
    return;
  this->shutting_down_ = true;
  if (this->restore_dirty_)
    this->save_restored_();
  this->runner_.request_hold(true);
  this->task_.notify();
  const uint32_t start = millis();
  while (!this->runner_.holding() && millis() - start < SHUTDOWN_WAIT_MS)
    delay(1);
  // A task that does not answer now is not waited for; whatever it writes later is overruled.
  this->pins_.latch_safe();
  bool safe = true;
  for (uint8_t i = 0; i < this->channel_count(); i++) {
    const ChannelConfig &config = this->channels_[i];
    if (config.drives() && (this->pins_.read(i) != config.inverted) != config.safe) {
      safe = false;
      ESP_LOGE(TAG, "Shutting down, and '%s' does not go safe", config.id);
    }
  }
  if (safe)
    ESP_LOGI(TAG, "Shutting down with every relay in its safe state");
}

#ifdef USE_OTA_STATE_LISTENER
void MimiClawIO::on_ota_global_state(ota::OTAState state, float progress, uint8_t error,
                                     ota::OTAComponent *component) {
  if (state != ota::OTA_STARTED && state != ota::OTA_ERROR && state != ota::OTA_ABORT)
    return;
  this->shutting_down_ = state == ota::OTA_STARTED;
  this->restore_check_ = !this->shutting_down_;
  this->runner_.request_hold(this->shutting_down_);
  this->task_.notify();
}
#endif

void MimiClawIO::dump_config() {
  ESP_LOGCONFIG(TAG,
                "MimiClaw I/O:\n"
                "  Core: %d\n"
                "  Tick: %" PRIu32 " us\n"
                "  Link timeout: %" PRIu32 " ms, then %s",
                this->task_config_.core, this->device_.tick_us, this->device_.link_timeout_ms,
                this->device_.link_keep ? "keep" : "safe");
  for (const ChannelConfig &config : this->channels_)
    ESP_LOGCONFIG(TAG, "  Channel '%s': %s on GPIO%d", config.id, kind_name(config.kind), config.pin);
}

}  // namespace esphome::mimiclaw_io
