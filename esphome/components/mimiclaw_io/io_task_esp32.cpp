#include "io_task.h"

#ifdef USE_ESP32

#include <esp_task_wdt.h>
#include <esp_timer.h>
#include <freertos/FreeRTOS.h>
#include <freertos/task.h>

namespace esphome::mimiclaw_io {

// The core's call depth is small; the reserve is for the ADC driver and an interrupt frame.
static constexpr uint32_t STACK_BYTES = 4096;

uint64_t IoTask::now_us() { return static_cast<uint64_t>(esp_timer_get_time()); }

bool IoTask::start(const TaskConfig &config) {
  this->config_ = config;
  TaskHandle_t handle = nullptr;
  const BaseType_t made = xTaskCreatePinnedToCore([](void *task) { static_cast<IoTask *>(task)->run_(); },
                                                  "mimiclaw_io", STACK_BYTES, this, config.priority, &handle,
                                                  static_cast<BaseType_t>(config.core));
  this->handle_ = handle;
  return made == pdPASS;
}

void IoTask::notify() { xTaskNotifyGive(static_cast<TaskHandle_t>(this->handle_)); }

void IoTask::run_() {
  // From here on a stall resets the chip, and reset pins are released pins.
  esp_task_wdt_add(nullptr);
  this->runner_.set_core(static_cast<int>(xPortGetCoreID()));
  uint64_t next_tick = now_us();
  while (true) {
    esp_task_wdt_reset();
    const uint64_t now = now_us();
    if (now >= next_tick) {
      this->runner_.jitter().add(static_cast<uint32_t>(now - next_tick));
      next_tick += this->config_.tick_us;
      // Ticks that were missed are gone; running them in a burst would help nobody.
      if (next_tick <= now)
        next_tick = now + this->config_.tick_us;
    }
    if (this->runner_.step(now))
      this->wake_main_();

    const uint64_t deadline = this->runner_.next_deadline();
    const uint64_t wake = deadline < next_tick ? deadline : next_tick;
    const uint64_t before = now_us();
    const uint64_t wait_us = wake > before ? wake - before : 0;
    // At least one FreeRTOS tick: Wi-Fi and the idle task need their turn whatever the timers say.
    TickType_t ticks = pdMS_TO_TICKS((wait_us + 999) / 1000);
    if (ticks == 0)
      ticks = 1;
    ulTaskNotifyTake(pdTRUE, ticks);
  }
}

}  // namespace esphome::mimiclaw_io

#endif  // USE_ESP32
