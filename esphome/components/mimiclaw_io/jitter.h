#pragma once

#include <atomic>
#include <cstdint>

namespace esphome::mimiclaw_io {

/// How late the I/O task woke up, in microseconds. Written by the I/O task, read by the main loop.
/// Buckets are exact below 16 us, then 8 an octave: at most 12.5 % off, in 1 KB.
class JitterHistogram {
 public:
  static constexpr uint32_t BUCKETS = 8 * 30;

  void add(uint32_t late_us) {
    std::atomic<uint32_t> &bucket = this->buckets_[index(late_us)];
    bucket.store(bucket.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    if (late_us > this->max_.load(std::memory_order_relaxed))
      this->max_.store(late_us, std::memory_order_relaxed);
  }

  uint32_t max_us() const { return this->max_.load(std::memory_order_relaxed); }

  uint32_t count() const {
    uint32_t total = 0;
    for (const auto &bucket : this->buckets_)
      total += bucket.load(std::memory_order_relaxed);
    return total;
  }

  /// Upper edge of the bucket that holds the given share (0..1) of all wake-ups, 0 when there were none.
  uint32_t percentile_us(float share) const {
    const uint32_t total = this->count();
    if (total == 0)
      return 0;
    const auto wanted = static_cast<uint32_t>(static_cast<double>(total) * share);
    uint32_t seen = 0;
    for (uint32_t i = 0; i < BUCKETS; i++) {
      seen += this->buckets_[i].load(std::memory_order_relaxed);
      if (seen > wanted)
        return upper_edge(i);
    }
    return this->max_us();
  }

  static uint32_t index(uint32_t us) {
    if (us < 16)
      return us;
    uint32_t octave = 0;
    while ((us >> octave) >= 16)
      octave++;
    const uint32_t bucket = 8 * octave + (us >> octave);
    return bucket < BUCKETS ? bucket : BUCKETS - 1;
  }

  static uint32_t upper_edge(uint32_t bucket) {
    if (bucket < 16)
      return bucket;
    const uint32_t octave = bucket / 8 - 1;
    return ((bucket - 8 * octave + 1) << octave) - 1;
  }

 protected:
  std::atomic<uint32_t> buckets_[BUCKETS]{};
  std::atomic<uint32_t> max_{0};
};

}  // namespace esphome::mimiclaw_io
