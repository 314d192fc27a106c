#pragma once

#include "io_runner.h"

#ifdef USE_HOST
#include <thread>
#endif

namespace esphome::mimiclaw_io {

struct TaskConfig {
  int core{0};
  uint8_t priority{0};
  uint32_t tick_us{1000};
};

/// The one task that owns the pins: FreeRTOS on the chip, a thread on the host. It sleeps until the next
/// tick, the next timer or the next command, whichever comes first.
class IoTask {
 public:
  IoTask(IoRunner &runner, void (*wake_main)()) : runner_(runner), wake_main_(wake_main) {}

  bool start(const TaskConfig &config);
  /// A command is in the queue. From the main loop.
  void notify();
  /// Microseconds of the clock the core runs on.
  static uint64_t now_us();
#ifdef USE_HOST
  /// Test only: the task takes this many milliseconds and sleeps them without a step.
  std::atomic<uint32_t> &stall_request() { return this->stall_ms_; }
  bool realtime() const { return this->realtime_.load(std::memory_order_relaxed); }
  void stop();
#endif

 protected:
  void run_();

  IoRunner &runner_;
  void (*wake_main_)();
  TaskConfig config_;
#ifdef USE_HOST
  int event_fd_{-1};
  std::atomic<uint32_t> stall_ms_{0};
  std::atomic<bool> realtime_{false};
  std::atomic<bool> stopping_{false};
  std::thread thread_;
#else
  void *handle_{nullptr};
#endif
};

}  // namespace esphome::mimiclaw_io
