#include "pins_host.h"

#include <cmath>
#include <initializer_list>
#include <ctime>

namespace esphome::mimiclaw_io {

int64_t HostPins::now_us() {
  // The clock of Python's time.monotonic_ns(), so tests compare without a conversion.
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<int64_t>(now.tv_sec) * 1000000 + now.tv_nsec / 1000;
}

void HostPins::begin(const ChannelConfig *channels, uint8_t count) {
  this->config_ = channels;
  this->count_ = count;
  for (uint8_t i = 0; i < count; i++) {
    Pin &pin = this->pins_[i];
    pin.edges = std::vector<std::atomic<int64_t>>(EDGES);
    // A relay that is not driven yet rests; an open input floats to where its pull holds it.
    pin.level.store(channels[i].drives() ? channels[i].inverted : channels[i].pullup);
    pin.driven.store(pin.level.load());
    pin.volts.store(channels[i].kind == Kind::ANALOG ? channels[i].volt_low : 0.0f);
  }
}

void HostPins::set_level_(uint8_t channel, bool level) {
  Pin &pin = this->pins_[channel];
  pin.driven.store(level, std::memory_order_relaxed);
  const int stuck = pin.stuck.load(std::memory_order_relaxed);
  if (stuck >= 0)
    level = stuck == 1;
  if (pin.level.exchange(level, std::memory_order_seq_cst) == level)
    return;
  const uint32_t number = pin.count.load(std::memory_order_relaxed);
  pin.edges[number % EDGES].store(now_us() << 1 | (level ? 1 : 0), std::memory_order_relaxed);
  pin.count.store(number + 1, std::memory_order_release);
}

void HostPins::write(uint8_t channel, bool level) {
  this->set_level_(channel, this->latched_.load(std::memory_order_seq_cst) ? this->safe_level_(channel) : level);
  // The latch may have closed between the look and the write; then safe is what must stay.
  if (this->latched_.load(std::memory_order_seq_cst))
    this->set_level_(channel, this->safe_level_(channel));
}

void HostPins::latch_safe() {
  this->latched_.store(true, std::memory_order_seq_cst);
  for (bool wanted : {false, true}) {
    for (uint8_t i = 0; i < this->count_; i++) {
      if (this->config_[i].drives() && this->config_[i].safe == wanted)
        this->set_level_(i, this->safe_level_(i));
    }
  }
}

void HostPins::stick(uint8_t channel, int level) {
  Pin &pin = this->pins_[channel];
  // Free again, the pin shows what it was told meanwhile.
  const bool driven = pin.driven.load(std::memory_order_relaxed);
  pin.stuck.store(level, std::memory_order_relaxed);
  this->set_level_(channel, driven);
}

std::vector<HostPins::Edge> HostPins::edges(uint8_t channel, uint32_t since) const {
  const Pin &pin = this->pins_[channel];
  const uint32_t count = pin.count.load(std::memory_order_acquire);
  std::vector<Edge> edges;
  if (count > EDGES && since < count - EDGES)
    since = count - EDGES;
  for (uint32_t number = since; number < count; number++) {
    const int64_t packed = pin.edges[number % EDGES].load(std::memory_order_relaxed);
    edges.push_back({packed >> 1, (packed & 1) != 0});
  }
  return edges;
}

}  // namespace esphome::mimiclaw_io
