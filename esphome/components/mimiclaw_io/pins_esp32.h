#pragma once

#include "esphome/core/defines.h"

#ifdef USE_ESP32

#include "io_runner.h"

#include <esp_adc/adc_cali.h>
#include <esp_adc/adc_oneshot.h>

namespace esphome::mimiclaw_io {

/// The chip's pins, past ESPHome's GPIO layer: a level is one register access, from any core.
class Esp32Pins : public LatchedPins {
 public:
  void begin(const ChannelConfig *channels, uint8_t count);

  void write(uint8_t channel, bool level) override;
  bool read(uint8_t channel) override;
  float read_volts(uint8_t channel) override;
  void latch_safe() override;
  void unlatch() override { this->latched_.store(false, std::memory_order_seq_cst); }

 protected:
  void begin_output_(const ChannelConfig &config);
  void begin_input_(const ChannelConfig &config);
  void begin_analog_(uint8_t channel);
  void set_level_(uint8_t channel, bool level);
  bool safe_level_(uint8_t channel) const { return this->config_[channel].safe != this->config_[channel].inverted; }

  const ChannelConfig *config_{nullptr};
  uint8_t count_{0};
  std::atomic<bool> latched_{false};
  adc_oneshot_unit_handle_t adc_{nullptr};
  adc_channel_t adc_channel_[MAX_CHANNELS]{};
  adc_cali_handle_t calibration_[MAX_CHANNELS]{};
};

}  // namespace esphome::mimiclaw_io

#endif  // USE_ESP32
