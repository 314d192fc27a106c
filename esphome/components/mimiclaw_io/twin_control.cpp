#include "twin_control.h"

#ifdef USE_MIMICLAW_TWIN

#include <cstdlib>
#include <cstring>
#include <poll.h>
#include <sstream>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "esphome/components/api/api_server.h"
#include "esphome/core/application.h"
#include "esphome/core/hal.h"
#include "esphome/core/log.h"
#include "mimiclaw_io.h"

namespace esphome::mimiclaw_io {

static const char *const TAG = "mimiclaw_io.twin";

// How long a freeze or drop waits to be taken by the main loop; a round of it takes 16 ms at most.
static constexpr int TAKEN_WAIT_MS = 2000;
// A line is a verb, a channel and a number.
static constexpr size_t MAX_LINE = 512;

bool TwinControl::start() {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (this->path_.size() >= sizeof(address.sun_path)) {
    ESP_LOGE(TAG, "The control socket's path is too long: %s", this->path_.c_str());
    return false;
  }
  memcpy(address.sun_path, this->path_.c_str(), this->path_.size());
  ::unlink(this->path_.c_str());
  this->listen_fd_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (this->listen_fd_ < 0 || ::bind(this->listen_fd_, reinterpret_cast<sockaddr *>(&address), sizeof(address)) != 0 ||
      ::listen(this->listen_fd_, 8) != 0) {
    ESP_LOGE(TAG, "The control socket did not open at %s: %s", this->path_.c_str(), strerror(errno));
    return false;
  }
  this->thread_ = std::thread([this]() { this->run_(); });
  this->thread_.detach();
  return true;
}

void TwinControl::run_() {
  while (true) {
    std::vector<pollfd> waiting{{this->listen_fd_, POLLIN, 0}};
    for (const Client &client : this->clients_)
      waiting.push_back({client.fd, POLLIN, 0});
    if (::poll(waiting.data(), waiting.size(), -1) < 0)
      continue;
    for (size_t i = this->clients_.size(); i-- > 0;) {
      if (waiting[i + 1].revents == 0)
        continue;
      this->serve_(this->clients_[i]);
      if (this->clients_[i].fd < 0)
        this->clients_.erase(this->clients_.begin() + static_cast<long>(i));
    }
    if (waiting[0].revents != 0) {
      const int fd = ::accept(this->listen_fd_, nullptr, nullptr);
      if (fd >= 0)
        this->clients_.push_back({fd, ""});
    }
  }
}

void TwinControl::serve_(Client &client) {
  char chunk[1024];
  const ssize_t got = ::read(client.fd, chunk, sizeof(chunk));
  if (got <= 0 || client.buffer.size() > MAX_LINE) {
    ::close(client.fd);
    client.fd = -1;
    return;
  }
  client.buffer.append(chunk, static_cast<size_t>(got));
  size_t end;
  while ((end = client.buffer.find('\n')) != std::string::npos) {
    const std::string answer = this->handle_(client.buffer.substr(0, end)) + "\n";
    client.buffer.erase(0, end + 1);
    size_t sent = 0;
    while (sent < answer.size()) {
      const ssize_t part = ::send(client.fd, answer.data() + sent, answer.size() - sent, MSG_NOSIGNAL);
      if (part <= 0)
        break;
      sent += static_cast<size_t>(part);
    }
  }
}

bool TwinControl::wait_taken_(std::atomic<uint32_t> &request) {
  MimiClawIO::wake_main();
  for (int i = 0; i < TAKEN_WAIT_MS && request.load() != 0; i++)
    ::usleep(1000);
  return request.load() == 0;
}

void TwinControl::main_loop() {
  uint32_t clients = 0;
  for (const auto &client : api::global_api_server->active_clients()) {
    if (client->is_authenticated())
      clients++;
  }
  this->clients_seen_.store(clients);
  if (this->drop_.exchange(0) != 0) {
    for (const auto &client : api::global_api_server->active_clients())
      client->on_fatal_error();
  }
  const uint32_t freeze_ms = this->freeze_ms_.exchange(0);
  if (freeze_ms != 0)
    delay(freeze_ms);
}

std::string TwinControl::handle_(const std::string &line) {
  std::istringstream words(line);
  std::string verb;
  std::string id;
  words >> verb;
  JsonWriter json;
  json.begin_object();
  const auto fail = [](const char *error) {
    JsonWriter wrong;
    wrong.begin_object().text("error", error).end_object();
    return wrong.json();
  };
  if (verb == "stats") {
    this->stats_(json);
    return json.end_object().json();
  }
  if (verb == "freeze" || verb == "stall") {
    uint32_t ms = 0;
    if (!(words >> ms) || ms == 0 || ms > 60000)
      return fail("milliseconds from 1 to 60000 wanted");
    if (verb == "stall") {
      std::atomic<uint32_t> &stall = this->io_->task().stall_request();
      stall.store(ms);
      return json.flag("ok", this->wait_taken_(stall)).end_object().json();
    }
    this->freeze_ms_.store(ms);
    return json.flag("ok", this->wait_taken_(this->freeze_ms_)).end_object().json();
  }
  if (verb == "drop") {
    this->drop_.store(1);
    return json.flag("ok", this->wait_taken_(this->drop_)).end_object().json();
  }

  words >> id;
  const uint8_t channel = this->io_->find_channel(id);
  if (channel == NO_CHANNEL)
    return fail(verb.empty() ? "empty line" : "unknown channel");
  const ChannelConfig &config = this->io_->channel_config(channel);
  HostPins &pins = this->io_->pins();
  if (verb == "read") {
    const bool level = pins.read(channel);
    json.number("level", level ? 1 : 0).flag("on", level != config.inverted).number("edges", pins.edge_count(channel));
  } else if (verb == "edges") {
    uint32_t since = 0;
    words >> since;
    json.number("count", pins.edge_count(channel)).key("edges").begin_array();
    for (const HostPins::Edge &edge : pins.edges(channel, since))
      json.begin_object().number("t_us", edge.t_us).number("level", edge.level ? 1 : 0).end_object();
    json.end_array();
  } else if (verb == "set") {
    float value = 0.0f;
    if (!(words >> value))
      return fail("value wanted");
    if (config.kind == Kind::ANALOG) {
      const float part = (value - config.value_low) / (config.value_high - config.value_low);
      pins.drive_volts(channel, config.volt_low + part * (config.volt_high - config.volt_low));
    } else if (config.kind == Kind::INPUT && (value == 0.0f || value == 1.0f)) {
      pins.drive(channel, value == 1.0f);
    } else {
      return fail(config.drives() ? "an output is not set from outside" : "0 or 1 wanted");
    }
    json.flag("ok", true);
  } else if (verb == "stick") {
    int level = -1;
    if (!(words >> level) || level < -1 || level > 1 || !config.drives())
      return fail("an output and -1, 0 or 1 wanted");
    pins.stick(channel, level);
    json.flag("ok", true);
  } else {
    return fail("unknown command");
  }
  return json.end_object().json();
}

void TwinControl::stats_(JsonWriter &json) {
  IoRunner &runner = this->io_->runner();
  json.number("core", runner.core()).flag("realtime", this->io_->task().realtime());
  json.number("ticks", runner.jitter().count()).number("jitter_p99_us", runner.jitter().percentile_us(0.99f));
  json.number("jitter_p50_us", runner.jitter().percentile_us(0.5f)).number("jitter_max_us", runner.jitter().max_us());
  json.number("queue_high_water", runner.queue_high_water()).number("link_losses", runner.link_losses());
  json.number("lost_messages", runner.lost_messages()).number("clients", this->clients_seen_.load());
  json.number("uptime_ms", static_cast<long long>(millis_64())).key("refusals").begin_object();
  for (uint8_t i = 1; i < static_cast<uint8_t>(Code::COUNT); i++)
    json.number(code_name(static_cast<Code>(i)), runner.refusals(static_cast<Code>(i)));
  json.end_object();
}

void MimiClawIO::setup_twin_() {
  if (const char *port = getenv("MIMICLAW_TWIN_API_PORT"); port != nullptr)
    api::global_api_server->set_port(static_cast<uint16_t>(atoi(port)));
  if (const char *name = getenv("MIMICLAW_TWIN_NAME"); name != nullptr) {
    const char *friendly = getenv("MIMICLAW_TWIN_FRIENDLY_NAME");
    // The environment outlives the program, and so do the two references kept here.
    if (friendly == nullptr)
      friendly = App.get_friendly_name().c_str();
    App.pre_setup(name, strlen(name), friendly, strlen(friendly));
  }
  if (const char *timeout = getenv("MIMICLAW_TWIN_LINK_TIMEOUT_MS"); timeout != nullptr)
    this->device_.link_timeout_ms = static_cast<uint32_t>(atoi(timeout));
}

void MimiClawIO::start_twin_() {
  const char *path = getenv("MIMICLAW_TWIN_SOCKET");
  this->twin_ = new TwinControl(this, path != nullptr ? path : USE_MIMICLAW_TWIN_SOCKET);  // NOLINT
  if (!this->twin_->start())
    exit(1);
}

}  // namespace esphome::mimiclaw_io

// Linked in place of ESPHome's (see -Wl,--wrap in __init__.py), so several twins run side by side.
extern "C" {
// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming)
void __real__ZN7esphome19get_mac_address_rawEPh(uint8_t *mac);
void __wrap__ZN7esphome19get_mac_address_rawEPh(uint8_t *mac) {
  unsigned parts[6];
  const char *text = getenv("MIMICLAW_TWIN_MAC");
  if (text == nullptr || sscanf(text, "%2x:%2x:%2x:%2x:%2x:%2x", &parts[0], &parts[1], &parts[2], &parts[3], &parts[4],
                                &parts[5]) != 6) {
    __real__ZN7esphome19get_mac_address_rawEPh(mac);
    return;
  }
  for (int i = 0; i < 6; i++)
    mac[i] = static_cast<uint8_t>(parts[i]);
}
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)
}

#endif  // USE_MIMICLAW_TWIN
