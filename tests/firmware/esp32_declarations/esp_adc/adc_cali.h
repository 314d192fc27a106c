#pragma once
#include "esp_err.h"
struct adc_cali_scheme_t;
using adc_cali_handle_t = adc_cali_scheme_t *;
extern "C" esp_err_t adc_cali_raw_to_voltage(adc_cali_handle_t handle, int raw, int *millivolts);
