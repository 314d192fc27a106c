#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace esphome::mimiclaw_io {

/// Bounded queue between one producer thread and one consumer thread, by value and without locks.
/// (ESPHome's LockFreeQueue carries pointers, which would need a pool on each side.)
template<typename T, uint32_t SIZE> class SpscQueue {
  static_assert((SIZE & (SIZE - 1)) == 0, "a power of two, so the indices may wrap");

 public:
  bool push(const T &item) {
    const uint32_t tail = this->tail_.load(std::memory_order_relaxed);
    const uint32_t used = tail - this->head_.load(std::memory_order_acquire);
    if (used >= SIZE)
      return false;
    this->items_[tail & (SIZE - 1)] = item;
    this->tail_.store(tail + 1, std::memory_order_release);
    if (used + 1 > this->high_water_.load(std::memory_order_relaxed))
      this->high_water_.store(used + 1, std::memory_order_relaxed);
    return true;
  }

  bool pop(T &item) {
    const uint32_t head = this->head_.load(std::memory_order_relaxed);
    if (head == this->tail_.load(std::memory_order_acquire))
      return false;
    item = this->items_[head & (SIZE - 1)];
    this->head_.store(head + 1, std::memory_order_release);
    return true;
  }

  /// Most items that were ever waiting.
  uint32_t high_water() const { return this->high_water_.load(std::memory_order_relaxed); }

 protected:
  T items_[SIZE]{};
  std::atomic<uint32_t> head_{0};
  std::atomic<uint32_t> tail_{0};
  std::atomic<uint32_t> high_water_{0};
};

}  // namespace esphome::mimiclaw_io
