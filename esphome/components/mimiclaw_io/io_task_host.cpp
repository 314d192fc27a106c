#include "io_task.h"

#ifdef USE_HOST

#include <cerrno>
#include <ctime>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "pins_host.h"

namespace esphome::mimiclaw_io {

uint64_t IoTask::now_us() { return static_cast<uint64_t>(HostPins::now_us()); }

bool IoTask::start(const TaskConfig &config) {
  this->config_ = config;
  this->event_fd_ = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (this->event_fd_ < 0)
    return false;
  this->thread_ = std::thread([this]() { this->run_(); });
  return true;
}

void IoTask::stop() {
  this->stopping_.store(true, std::memory_order_relaxed);
  this->notify();
  if (this->thread_.joinable())
    this->thread_.join();
}

void IoTask::notify() {
  const uint64_t one = 1;
  // Full means the task has a wake-up pending already.
  while (::write(this->event_fd_, &one, sizeof(one)) < 0 && errno == EINTR) {
  }
}

void IoTask::run_() {
  pthread_setname_np(pthread_self(), "mimiclaw_io");
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(this->config_.core, &cpus);
  // Both are wishes on a shared machine: without them the twin works, only less evenly.
  pthread_setaffinity_np(pthread_self(), sizeof(cpus), &cpus);
  sched_param priority{};
  priority.sched_priority = this->config_.priority;
  this->realtime_.store(pthread_setschedparam(pthread_self(), SCHED_FIFO, &priority) == 0, std::memory_order_relaxed);
  prctl(PR_SET_TIMERSLACK, 1UL);

  uint64_t next_tick = now_us();
  while (!this->stopping_.load(std::memory_order_relaxed)) {
    const uint32_t stall_ms = this->stall_ms_.exchange(0, std::memory_order_relaxed);
    if (stall_ms != 0)
      usleep(stall_ms * 1000);
    const uint64_t now = now_us();
    if (now >= next_tick) {
      this->runner_.jitter().add(static_cast<uint32_t>(now - next_tick));
      next_tick += this->config_.tick_us;
      // Ticks that were missed are gone; running them in a burst would help nobody.
      if (next_tick <= now)
        next_tick = now + this->config_.tick_us;
    }
    this->runner_.set_core(sched_getcpu());
    if (this->runner_.step(now))
      this->wake_main_();

    const uint64_t deadline = this->runner_.next_deadline();
    const uint64_t wake = deadline < next_tick ? deadline : next_tick;
    const uint64_t before = now_us();
    if (wake <= before)
      continue;
    timespec timeout{};
    timeout.tv_sec = static_cast<time_t>((wake - before) / 1000000);
    timeout.tv_nsec = static_cast<long>((wake - before) % 1000000 * 1000);
    pollfd waiting{this->event_fd_, POLLIN, 0};
    if (ppoll(&waiting, 1, &timeout, nullptr) > 0) {
      uint64_t count = 0;
      while (::read(this->event_fd_, &count, sizeof(count)) < 0 && errno == EINTR) {
      }
    }
  }
}

}  // namespace esphome::mimiclaw_io

#endif  // USE_HOST
