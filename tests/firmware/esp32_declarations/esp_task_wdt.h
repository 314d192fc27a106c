#pragma once
#include "esp_err.h"
#include "freertos/task.h"
extern "C" {
esp_err_t esp_task_wdt_add(TaskHandle_t task);
esp_err_t esp_task_wdt_reset();
}
