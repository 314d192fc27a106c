#include "mimiclaw_io.h"

#include <cinttypes>
#include <cstdio>

#include "esphome/components/api/api_server.h"
#include "esphome/core/application.h"
#include "esphome/core/hal.h"
#include "esphome/core/log.h"

namespace esphome::mimiclaw_io {

static const char *const TAG = "mimiclaw_io.report";

// A night of link losses; older ones are in Home Assistant's log or nowhere.
static constexpr size_t MAX_UNSENT_EVENTS = 16;

namespace {

const char *hold_name(uint8_t hold) {
  switch (hold) {
    case HOLD_LINK:
      return "link_lost";
    case HOLD_SHUTDOWN:
      return "shutting_down";
    case HOLD_STALL:
      return "stalled";
    default:
      return "";
  }
}

const char *detail_name(const Event &event) {
  return event.code != Code::OK ? code_name(event.code) : hold_name(event.hold);
}

}  // namespace

void MimiClawIO::publish_event_(const Event &event) {
  const char *channel = event.channel == NO_CHANNEL ? "" : this->channels_[event.channel].id;
  ESP_LOGI(TAG, "%s %s %s", event_name(event.type), channel, detail_name(event));
  if (this->event_entity_ != nullptr)
    this->event_entity_->trigger(event_name(event.type));
  if (this->unsent_.empty() && this->send_event_(event, 0))
    return;
  // Home Assistant may be restarting, which is when relays go safe: it is told once it is back.
  if (this->unsent_.size() >= MAX_UNSENT_EVENTS)
    this->unsent_.erase(this->unsent_.begin());
  this->unsent_.push_back({event, millis()});
}

void MimiClawIO::send_events_() {
  size_t sent = 0;
  while (sent < this->unsent_.size() &&
         this->send_event_(this->unsent_[sent].event, millis() - this->unsent_[sent].at_ms))
    sent++;
  this->unsent_.erase(this->unsent_.begin(), this->unsent_.begin() + static_cast<std::ptrdiff_t>(sent));
}

bool MimiClawIO::send_event_(const Event &event, uint32_t age_ms) {
  if (!api::global_api_server->is_connected())
    return false;
  const char *channel = event.channel == NO_CHANNEL ? "" : this->channels_[event.channel].id;
  const char *other = event.other == NO_CHANNEL ? "" : this->channels_[event.other].id;
  char ms[12];
  char age[12];
  snprintf(ms, sizeof(ms), "%" PRIu32, event.ms);
  snprintf(age, sizeof(age), "%" PRIu32, age_ms);
  const char *const fields[][2] = {
      {"type", event_name(event.type)},
      {"channel", channel},
      {"detail", detail_name(event)},
      {"other", other},
      {"actor", actor_name(event.actor)},
      {"ms", ms},
      {"age_ms", age},
      {"node", App.get_name().c_str()},
  };
  api::HomeassistantActionRequest request;
  request.service = StringRef("esphome.mimiclaw_event");
  request.is_event = true;
  request.data.init(sizeof(fields) / sizeof(fields[0]));
  for (const auto &field : fields) {
    auto &entry = request.data.emplace_back();
    entry.key = StringRef(field[0]);
    entry.value = StringRef(field[1]);
  }
  bool heard = false;
  for (const auto &client : api::global_api_server->active_clients())
    heard |= client->send_homeassistant_action(request);
  return heard;
}

void MimiClawIO::publish_diagnostics_() {
  uint32_t total = 0;
  std::string reasons;
  for (uint8_t i = 1; i < static_cast<uint8_t>(Code::COUNT); i++) {
    const uint32_t count = this->runner_.refusals(static_cast<Code>(i)) + this->refused_here_[i];
    if (count == 0)
      continue;
    total += count;
    char part[40];
    snprintf(part, sizeof(part), "%s%s %" PRIu32, reasons.empty() ? "" : ", ", code_name(static_cast<Code>(i)), count);
    reasons += part;
  }
  if (this->jitter_p99_sensor_ != nullptr)
    this->jitter_p99_sensor_->publish_state(this->runner_.jitter().percentile_us(0.99f));
  if (this->jitter_max_sensor_ != nullptr)
    this->jitter_max_sensor_->publish_state(this->runner_.jitter().max_us());
  if (this->queue_high_water_sensor_ != nullptr)
    this->queue_high_water_sensor_->publish_state(this->runner_.queue_high_water());
  if (this->refusal_count_sensor_ != nullptr)
    this->refusal_count_sensor_->publish_state(total);
  if (this->link_losses_sensor_ != nullptr)
    this->link_losses_sensor_->publish_state(this->runner_.link_losses());
  if (this->uptime_sensor_ != nullptr)
    this->uptime_sensor_->publish_state(static_cast<float>(millis_64() / 1000));
  if (this->io_core_sensor_ != nullptr)
    this->io_core_sensor_->publish_state(this->runner_.core());
  if (this->refusals_text_sensor_ != nullptr)
    this->refusals_text_sensor_->publish_state(reasons.empty() ? "none" : reasons);
}

}  // namespace esphome::mimiclaw_io
