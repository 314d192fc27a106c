#pragma once
#include "adc_cali.h"
#include "adc_oneshot.h"
// ESP-IDF offers one of the two, by chip; the test compiles once with each.
#if defined(ADC_CALI_SCHEME_CURVE_FITTING_SUPPORTED)
struct adc_cali_curve_fitting_config_t {
  adc_unit_t unit_id;
  adc_channel_t chan;
  adc_atten_t atten;
  adc_bitwidth_t bitwidth;
};
extern "C" esp_err_t adc_cali_create_scheme_curve_fitting(const adc_cali_curve_fitting_config_t *config,
                                                          adc_cali_handle_t *handle);
#elif defined(ADC_CALI_SCHEME_LINE_FITTING_SUPPORTED)
struct adc_cali_line_fitting_config_t {
  adc_unit_t unit_id;
  adc_atten_t atten;
  adc_bitwidth_t bitwidth;
  uint32_t default_vref;
};
extern "C" esp_err_t adc_cali_create_scheme_line_fitting(const adc_cali_line_fitting_config_t *config,
                                                         adc_cali_handle_t *handle);
#endif
