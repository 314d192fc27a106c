#include "mimiclaw_io.h"

#include <algorithm>

#include "esphome/components/api/api_server.h"
#include "esphome/core/hal.h"

namespace esphome::mimiclaw_io {

// Four questions fit into link_timeout, so one lost packet is no lost link; a quiet client is asked
// at most 20 times a second and at least every 15 seconds.
static constexpr uint32_t PINGS_A_TIMEOUT = 4;
static constexpr uint32_t MIN_PING_MS = 50;
static constexpr uint32_t MAX_PING_MS = 15000;

namespace {

// The API notes when a client was last heard and keeps it to itself; by its own clock a client that
// vanished without a word counts as connected for two and a half minutes. Naming a member in an explicit
// instantiation is the one way C++ gives to read it, and fails to compile should it ever be renamed.
uint32_t last_heard(const api::APIConnection &client);
template<uint32_t api::APIConnection::*MEMBER> struct LastHeard {
  friend uint32_t last_heard(const api::APIConnection &client) { return client.*MEMBER; }
};
template struct LastHeard<&api::APIConnection::last_traffic_>;

}  // namespace

void MimiClawIO::watch_link_() {
  const uint32_t now = millis();
  const uint32_t ping_ms = std::clamp(this->device_.link_timeout_ms / PINGS_A_TIMEOUT, MIN_PING_MS, MAX_PING_MS);
  const bool may_ping = this->device_.link_timeout_ms != 0 && now - this->last_ping_ms_ >= ping_ms;
  for (const auto &client : api::global_api_server->active_clients()) {
    // A socket that has not said hello is not a client: a port scan must not keep a pump running.
    if (!client->is_authenticated() || client->is_marked_for_removal())
      continue;
    const uint32_t heard = last_heard(*client);
    // Newer than the newest word so far, over the wrap of the clock
    if (static_cast<int32_t>(heard - this->last_heard_ms_) > 0 || !this->link_known_) {
      this->link_known_ = true;
      this->last_heard_ms_ = heard;
      this->runner_.link_seen();
    }
    if (may_ping && now - heard >= ping_ms) {
      this->last_ping_ms_ = now;
      // One that cannot even be sent is as good as unanswered.
      (void) client->send_message(api::PingRequest());
    }
  }
}

}  // namespace esphome::mimiclaw_io
