#pragma once
#include "esp_err.h"
enum adc_unit_t { ADC_UNIT_1, ADC_UNIT_2 };
enum adc_channel_t { ADC_CHANNEL_0 };
enum adc_atten_t { ADC_ATTEN_DB_0 = 0, ADC_ATTEN_DB_12 = 3 };
enum adc_bitwidth_t { ADC_BITWIDTH_DEFAULT = 0 };
enum adc_ulp_mode_t { ADC_ULP_MODE_DISABLE = 0 };
enum adc_oneshot_clk_src_t { ADC_DIGI_CLK_SRC_DEFAULT = 0 };
struct adc_oneshot_unit_ctx_t;
using adc_oneshot_unit_handle_t = adc_oneshot_unit_ctx_t *;
struct adc_oneshot_unit_init_cfg_t {
  adc_unit_t unit_id;
  adc_oneshot_clk_src_t clk_src;
  adc_ulp_mode_t ulp_mode;
};
struct adc_oneshot_chan_cfg_t {
  adc_atten_t atten;
  adc_bitwidth_t bitwidth;
};
extern "C" {
esp_err_t adc_oneshot_new_unit(const adc_oneshot_unit_init_cfg_t *config, adc_oneshot_unit_handle_t *unit);
esp_err_t adc_oneshot_io_to_channel(int pin, adc_unit_t *unit, adc_channel_t *channel);
esp_err_t adc_oneshot_config_channel(adc_oneshot_unit_handle_t unit, adc_channel_t channel,
                                     const adc_oneshot_chan_cfg_t *config);
esp_err_t adc_oneshot_read(adc_oneshot_unit_handle_t unit, adc_channel_t channel, int *raw);
}
