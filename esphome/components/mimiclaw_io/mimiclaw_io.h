#pragma once

#include "esphome/components/binary_sensor/binary_sensor.h"
#include "esphome/components/button/button.h"
#include "esphome/components/event/event.h"
#include "esphome/components/sensor/sensor.h"
#include "esphome/components/switch/switch.h"
#include "esphome/components/text_sensor/text_sensor.h"
#include "esphome/core/component.h"
#include "esphome/core/preferences.h"
#ifdef USE_OTA_STATE_LISTENER
#include "esphome/components/ota/ota_backend.h"
#endif

#include "io_runner.h"
#include "io_task.h"
#include "json_writer.h"
#ifdef USE_HOST
#include "pins_host.h"
#else
#include "pins_esp32.h"
#endif

#include <string>
#include <vector>

namespace esphome::mimiclaw_io {

#ifdef USE_MIMICLAW_TWIN
class TwinControl;
#endif

/// What clients are told about a channel and the entity that stands for it.
struct ChannelInfo {
  const char *name;
  const char *names_json;  ///< {"en": ["water pump", ...], ...}
  const char *interlock;   ///< group name, "" for none
  const char *unit;
  const char *device_class;
  switch_::Switch *switch_entity;
  button::Button *button_entity;
  binary_sensor::BinarySensor *binary_sensor_entity;
  sensor::Sensor *sensor_entity;
};

/// The ESPHome face of the I/O task: entities, actions with answers, events, diagnostics.
/// Lives on the main loop; everything it wants done goes through IoRunner's queue.
class MimiClawIO : public Component
#ifdef USE_OTA_STATE_LISTENER
    ,
                   public ota::OTAGlobalStateListener
#endif
{
 public:
  MimiClawIO() : runner_(pins_), task_(runner_, &MimiClawIO::wake_main) {}

  // Code generation
  void add_channel(const ChannelConfig &config, const ChannelInfo &info) {
    this->channels_.push_back(config);
    this->info_.push_back(info);
  }
  void set_device(const DeviceConfig &device) { this->device_ = device; }
  void set_task(int core, uint8_t priority) {
    this->task_config_.core = core;
    this->task_config_.priority = priority;
  }
  void set_stall_timeout(uint32_t ms) { this->stall_timeout_ms_ = ms; }
  void set_diagnostics_interval(uint32_t ms) { this->diagnostics_interval_ms_ = ms; }
  void set_event_entity(event::Event *entity) { this->event_entity_ = entity; }
  SUB_SENSOR(jitter_p99)
  SUB_SENSOR(jitter_max)
  SUB_SENSOR(queue_high_water)
  SUB_SENSOR(refusal_count)
  SUB_SENSOR(link_losses)
  SUB_SENSOR(uptime)
  SUB_SENSOR(io_core)
  SUB_TEXT_SENSOR(refusals)

  // Component
  void setup() override;
  void loop() override;
  void dump_config() override;
  void on_safe_shutdown() override;
  /// Before every other component: no pin may wait for a sensor's set-up.
  float get_setup_priority() const override { return setup_priority::POWER + 100.0f; }
#ifdef USE_OTA_STATE_LISTENER
  void on_ota_global_state(ota::OTAState state, float progress, uint8_t error, ota::OTAComponent *component) override;
#endif

  /// Ask the I/O task without waiting for an answer (entities). Counts as the actor given.
  void command(uint8_t channel, Op op, Actor actor);

  // Actions with answers; `call` is the API's number for the call, 0 when nobody listens.
  void action_write(uint32_t call, bool wants_data, const std::string &channel, const std::string &state,
                    int32_t duration_ms, const std::string &actor);
  void action_read(uint32_t call, bool wants_data, const std::string &channel);
  void action_describe(uint32_t call, int32_t page);

  uint8_t find_channel(const std::string &id) const;
  uint8_t channel_count() const { return static_cast<uint8_t>(this->channels_.size()); }
  const ChannelConfig &channel_config(uint8_t channel) const { return this->channels_[channel]; }
  IoRunner &runner() { return this->runner_; }
  IoTask &task() { return this->task_; }
#ifdef USE_HOST
  HostPins &pins() { return this->pins_; }
#endif

  static void wake_main();

 protected:
  struct Pending {
    uint32_t call;
    bool wants_data;
    std::string channel;
  };
  struct UnsentEvent {
    Event event;
    uint32_t at_ms;
  };

  void setup_actions_();
  void load_restored_();
  void check_restored_();
  void save_restored_();
  void submit_(const Command &command, bool wants_data, const std::string &channel);
  void answer_(const Pending &pending, const Result &result);
  void respond_(uint32_t call, bool wants_data, bool ok, const char *error, const std::string &json);
  void describe_channel_(uint8_t channel, JsonWriter &json) const;
  void publish_state_(uint8_t channel, bool state, float value);
  void publish_event_(const Event &event);
  void send_events_();
  bool send_event_(const Event &event, uint32_t age_ms);
  void publish_diagnostics_();
  void watch_loop_();
  bool late_() const;
  void watch_link_();
  void watch_task_();
  void drain_();

#ifdef USE_HOST
  HostPins pins_;
#else
  Esp32Pins pins_;
#endif
  IoRunner runner_;
  IoTask task_;
  TaskConfig task_config_;
  DeviceConfig device_;
  std::vector<ChannelConfig> channels_;
  std::vector<ChannelInfo> info_;
  std::vector<Pending> pending_;
  std::vector<UnsentEvent> unsent_;
  std::vector<bool> states_;
  std::vector<float> values_;
  event::Event *event_entity_{nullptr};
  ESPPreferenceObject restore_pref_;
  uint64_t restored_{0};
  uint32_t stall_timeout_ms_{250};
  uint32_t diagnostics_interval_ms_{30000};
  uint32_t last_diagnostics_ms_{0};
  uint32_t last_heartbeat_{0};
  uint32_t heartbeat_ms_{0};
  uint32_t last_heard_ms_{0};
  uint32_t last_ping_ms_{0};
  uint32_t refused_here_[static_cast<uint8_t>(Code::COUNT)]{};
  bool stalled_{false};
  uint32_t loop_ms_{0};
  uint32_t late_until_ms_{0};
  bool restore_dirty_{false};
  bool restore_check_{false};
  bool link_known_{false};
  bool shutting_down_{false};
#ifdef USE_MIMICLAW_TWIN
  void setup_twin_();
  void start_twin_();
  TwinControl *twin_{nullptr};
#endif
};

class MimiClawSwitch : public switch_::Switch, public Parented<MimiClawIO> {
 public:
  explicit MimiClawSwitch(uint8_t channel) : channel_(channel) {}

 protected:
  // The state is published when the I/O task has read it back, never here.
  void write_state(bool state) override {
    this->parent_->command(this->channel_, state ? Op::ON : Op::OFF, Actor::AUTOMATION);
  }
  uint8_t channel_;
};

class MimiClawButton : public button::Button, public Parented<MimiClawIO> {
 public:
  explicit MimiClawButton(uint8_t channel) : channel_(channel) {}

 protected:
  void press_action() override { this->parent_->command(this->channel_, Op::PULSE, Actor::AUTOMATION); }
  uint8_t channel_;
};

}  // namespace esphome::mimiclaw_io
