#pragma once

#include "esphome/core/defines.h"

#ifdef USE_MIMICLAW_TWIN

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "json_writer.h"

namespace esphome::mimiclaw_io {

class MimiClawIO;

/// The twin's back door: a unix socket over which tests drive and read the pins. Host builds only; it is
/// not compiled for a chip. One line in, one line of JSON out.
class TwinControl {
 public:
  TwinControl(MimiClawIO *io, std::string path) : io_(io), path_(std::move(path)) {}

  bool start();
  /// The part that has to happen on the main loop: freezing it, dropping its clients.
  void main_loop();

 protected:
  struct Client {
    int fd;
    std::string buffer;
  };

  void run_();
  void serve_(Client &client);
  std::string handle_(const std::string &line);
  void stats_(JsonWriter &json);
  bool wait_taken_(std::atomic<uint32_t> &request);

  MimiClawIO *io_;
  std::string path_;
  int listen_fd_{-1};
  std::vector<Client> clients_;
  std::atomic<uint32_t> freeze_ms_{0};
  std::atomic<uint32_t> drop_{0};
  std::atomic<uint32_t> clients_seen_{0};
  std::thread thread_;
};

}  // namespace esphome::mimiclaw_io

#endif  // USE_MIMICLAW_TWIN
