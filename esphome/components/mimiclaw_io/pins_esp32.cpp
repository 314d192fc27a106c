#include "pins_esp32.h"

#ifdef USE_ESP32

#include <cmath>
#include <initializer_list>

#include <driver/gpio.h>
#include <esp_adc/adc_cali_scheme.h>

#include "esphome/core/log.h"

namespace esphome::mimiclaw_io {

static const char *const TAG = "mimiclaw_io.pins";

// Full scale of the converter at 12 dB, used when the chip carries no calibration.
static constexpr float UNCALIBRATED_VOLTS = 3.1f;
static constexpr float UNCALIBRATED_STEPS = 4095.0f;

void Esp32Pins::begin(const ChannelConfig *channels, uint8_t count) {
  this->config_ = channels;
  this->count_ = count;
  // Relays first: what can hurt somebody does not wait for a sensor. Off before on, for the interlocks.
  for (bool wanted : {false, true}) {
    for (uint8_t i = 0; i < count; i++) {
      if (channels[i].drives() && channels[i].safe == wanted)
        this->begin_output_(channels[i]);
    }
  }
  for (uint8_t i = 0; i < count; i++) {
    if (channels[i].kind == Kind::INPUT)
      this->begin_input_(channels[i]);
    if (channels[i].kind == Kind::ANALOG)
      this->begin_analog_(i);
  }
}

void Esp32Pins::begin_output_(const ChannelConfig &config) {
  const auto pin = static_cast<gpio_num_t>(config.pin);
  // The level is latched before the driver is switched on, so the pin never shows the wrong one.
  gpio_set_level(pin, config.safe != config.inverted ? 1 : 0);
  gpio_config_t setup{};
  setup.pin_bit_mask = uint64_t{1} << config.pin;
  // Input as well: what is reported is what the pad really carries.
  setup.mode = GPIO_MODE_INPUT_OUTPUT;
  setup.pull_up_en = GPIO_PULLUP_DISABLE;
  setup.pull_down_en = GPIO_PULLDOWN_DISABLE;
  setup.intr_type = GPIO_INTR_DISABLE;
  gpio_config(&setup);
}

void Esp32Pins::begin_input_(const ChannelConfig &config) {
  gpio_config_t setup{};
  setup.pin_bit_mask = uint64_t{1} << config.pin;
  setup.mode = GPIO_MODE_INPUT;
  setup.pull_up_en = config.pullup ? GPIO_PULLUP_ENABLE : GPIO_PULLUP_DISABLE;
  setup.pull_down_en = config.pulldown ? GPIO_PULLDOWN_ENABLE : GPIO_PULLDOWN_DISABLE;
  setup.intr_type = GPIO_INTR_DISABLE;
  gpio_config(&setup);
}

void Esp32Pins::begin_analog_(uint8_t channel) {
  if (this->adc_ == nullptr) {
    adc_oneshot_unit_init_cfg_t unit{};
    unit.unit_id = ADC_UNIT_1;
    unit.ulp_mode = ADC_ULP_MODE_DISABLE;
    if (adc_oneshot_new_unit(&unit, &this->adc_) != ESP_OK) {
      ESP_LOGE(TAG, "ADC1 is taken; analog channels have no reading");
      this->adc_ = nullptr;
      return;
    }
  }
  adc_unit_t unit_of_pin = ADC_UNIT_1;
  if (adc_oneshot_io_to_channel(this->config_[channel].pin, &unit_of_pin, &this->adc_channel_[channel]) != ESP_OK) {
    ESP_LOGE(TAG, "GPIO%d has no ADC", this->config_[channel].pin);
    return;
  }
  adc_oneshot_chan_cfg_t setup{};
  setup.atten = ADC_ATTEN_DB_12;
  setup.bitwidth = ADC_BITWIDTH_DEFAULT;
  adc_oneshot_config_channel(this->adc_, this->adc_channel_[channel], &setup);
#if defined(ADC_CALI_SCHEME_CURVE_FITTING_SUPPORTED)
  adc_cali_curve_fitting_config_t scheme{};
  scheme.unit_id = ADC_UNIT_1;
  scheme.chan = this->adc_channel_[channel];
  scheme.atten = ADC_ATTEN_DB_12;
  scheme.bitwidth = ADC_BITWIDTH_DEFAULT;
  if (adc_cali_create_scheme_curve_fitting(&scheme, &this->calibration_[channel]) != ESP_OK)
    this->calibration_[channel] = nullptr;
#elif defined(ADC_CALI_SCHEME_LINE_FITTING_SUPPORTED)
  adc_cali_line_fitting_config_t scheme{};
  scheme.unit_id = ADC_UNIT_1;
  scheme.atten = ADC_ATTEN_DB_12;
  scheme.bitwidth = ADC_BITWIDTH_DEFAULT;
  if (adc_cali_create_scheme_line_fitting(&scheme, &this->calibration_[channel]) != ESP_OK)
    this->calibration_[channel] = nullptr;
#endif
}

void Esp32Pins::set_level_(uint8_t channel, bool level) {
  gpio_set_level(static_cast<gpio_num_t>(this->config_[channel].pin), level ? 1 : 0);
}

void Esp32Pins::write(uint8_t channel, bool level) {
  this->set_level_(channel, this->latched_.load(std::memory_order_seq_cst) ? this->safe_level_(channel) : level);
  // The latch may have closed between the look and the write; then safe is what must stay.
  if (this->latched_.load(std::memory_order_seq_cst))
    this->set_level_(channel, this->safe_level_(channel));
}

bool Esp32Pins::read(uint8_t channel) {
  return gpio_get_level(static_cast<gpio_num_t>(this->config_[channel].pin)) != 0;
}

float Esp32Pins::read_volts(uint8_t channel) {
  int raw = 0;
  if (this->adc_ == nullptr || adc_oneshot_read(this->adc_, this->adc_channel_[channel], &raw) != ESP_OK)
    return NAN;
  int millivolts = 0;
  if (this->calibration_[channel] != nullptr &&
      adc_cali_raw_to_voltage(this->calibration_[channel], raw, &millivolts) == ESP_OK)
    return static_cast<float>(millivolts) / 1000.0f;
  return static_cast<float>(raw) * UNCALIBRATED_VOLTS / UNCALIBRATED_STEPS;
}

void Esp32Pins::latch_safe() {
  this->latched_.store(true, std::memory_order_seq_cst);
  for (bool wanted : {false, true}) {
    for (uint8_t i = 0; i < this->count_; i++) {
      if (this->config_[i].drives() && this->config_[i].safe == wanted)
        this->set_level_(i, this->safe_level_(i));
    }
  }
}

}  // namespace esphome::mimiclaw_io

#endif  // USE_ESP32
