#pragma once

// Drives the I/O core with pins and a clock of its own and watches every level it writes. The model below
// is a second, plain statement of the policy; the rules that protect people (interlock, longest and
// shortest times, safe states) are checked on the pins themselves, not on the model.

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "io_core.h"

namespace harness {

namespace io = esphome::mimiclaw_io;

class Checker : public io::PinPort, public io::IoSink {
 public:
  // The program
  void device(const io::DeviceConfig &device) { this->device_ = device; }
  void channel(const io::ChannelConfig &config);
  void begin(uint64_t restored);
  void restart();
  void command(uint8_t channel, io::Op op, uint8_t actor, int32_t duration_ms);
  void ticks(uint32_t count);
  void late(uint32_t us);
  void link(bool up) { this->link_up_ = up; }
  void hold(bool on);
  void input(uint8_t channel, bool level);
  void stick(uint8_t channel, bool stuck);

  const std::string &violation() const { return this->violation_; }
  uint64_t ticks_done() const { return this->ticks_done_; }
  uint64_t commands_done() const { return this->commands_done_; }
  uint64_t accepted() const { return this->accepted_; }

  // PinPort
  void write(uint8_t channel, bool level) override;
  bool read(uint8_t channel) override { return this->pins_[channel].level; }
  float read_volts(uint8_t) override { return 1.0f; }
  // IoSink
  void on_state(uint8_t channel, bool state, float value) override;
  void on_event(const io::Event &event) override;

 private:
  enum class Cause { NONE, BEGIN, TIME, COMMAND, HOLD };
  struct Pin {
    bool level{false};
    bool stuck{false};
    bool driven{false};  ///< what was written last
    bool written{false};
    bool unsure{false};  ///< was stuck once: its own times say nothing any more
    uint64_t on_us{0};
    uint64_t off_us{0};
    bool sampled{false};
    uint64_t sampled_us{0};
    bool reported{false};
  };
  struct Model {
    bool on{false};
    uint64_t changed_us{0};
    uint64_t end_us{UINT64_MAX};
    bool max_on{false};
  };

  void fail(const std::string &text);
  bool pin_on(uint8_t channel) const { return this->pins_[channel].level != this->config_[channel].inverted; }
  void step();
  void after();
  void check_edge(uint8_t channel, bool on);
  void model_set(uint8_t channel, bool on);
  void model_safe();
  void model_time();
  bool model_held() const;
  io::Code model_command(const io::Command &command);
  io::Code model_on(const io::Command &command, uint32_t duration_ms);
  uint8_t model_blocked(uint8_t channel) const;

  std::vector<io::ChannelConfig> config_;
  io::DeviceConfig device_;
  std::deque<io::IoCore> cores_;
  std::vector<Pin> pins_;
  std::vector<Model> model_;
  io::IoCore *core_{nullptr};
  std::string violation_;
  Cause cause_{Cause::NONE};
  io::Command running_;
  uint64_t now_{1000000};
  uint64_t boot_end_us_{0};
  uint64_t link_us_{0};
  uint64_t restored_{0};
  uint64_t ticks_done_{0};
  uint64_t commands_done_{0};
  uint64_t accepted_{0};
  uint32_t max_on_events_{0};
  uint32_t max_on_expected_{0};
  uint32_t refused_events_{0};
  uint32_t refused_expected_{0};
  uint32_t wait_expected_{0};
  uint8_t other_expected_{io::NO_CHANNEL};
  bool model_wrote_{false};
  bool link_up_{true};
  bool booting_{false};
  bool lost_{false};
  bool held_{false};
};

}  // namespace harness
