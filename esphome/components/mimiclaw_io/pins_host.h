#pragma once

#include "io_runner.h"

#include <vector>

namespace esphome::mimiclaw_io {

/// The twin's pins: levels in memory that tests drive and observe, with the time of every edge.
/// Written by the I/O task, read and driven by the control socket's thread; all of it atomics.
class HostPins : public LatchedPins {
 public:
  // Edges kept a channel; older ones are overwritten. 10,000 commands on one channel fit.
  static constexpr uint32_t EDGES = 16384;

  struct Edge {
    int64_t t_us;
    bool level;
  };

  void begin(const ChannelConfig *channels, uint8_t count);

  void write(uint8_t channel, bool level) override;
  bool read(uint8_t channel) override { return this->pins_[channel].level.load(std::memory_order_seq_cst); }
  float read_volts(uint8_t channel) override { return this->pins_[channel].volts.load(std::memory_order_relaxed); }
  void latch_safe() override;
  void unlatch() override { this->latched_.store(false, std::memory_order_seq_cst); }

  // The test's side
  void drive(uint8_t channel, bool level) { this->set_level_(channel, level); }
  void drive_volts(uint8_t channel, float volts) { this->pins_[channel].volts.store(volts, std::memory_order_relaxed); }
  /// A pin that no longer follows (-1: it does).
  void stick(uint8_t channel, int level);
  uint32_t edge_count(uint8_t channel) const { return this->pins_[channel].count.load(std::memory_order_acquire); }
  /// Edges from number `since` on, oldest first.
  std::vector<Edge> edges(uint8_t channel, uint32_t since) const;

  static int64_t now_us();

 protected:
  struct Pin {
    std::atomic<bool> level{false};
    std::atomic<bool> driven{false};
    std::atomic<int> stuck{-1};
    std::atomic<float> volts{0.0f};
    std::atomic<uint32_t> count{0};
    std::vector<std::atomic<int64_t>> edges;  ///< microseconds << 1 | level
  };

  void put_(uint8_t channel, bool level);
  void set_level_(uint8_t channel, bool level);
  bool safe_level_(uint8_t channel) const { return this->config_[channel].safe != this->config_[channel].inverted; }

  const ChannelConfig *config_{nullptr};
  Pin pins_[MAX_CHANNELS];
  uint8_t count_{0};
  std::atomic<bool> latched_{false};
};

}  // namespace esphome::mimiclaw_io
