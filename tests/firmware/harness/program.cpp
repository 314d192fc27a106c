// Reads programs from standard input, one word-separated instruction a line, and answers each "run" with
// one line: "ok <ticks> <commands> <accepted>" or "violation ...".

#include <cstdio>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>

#include "checker.h"

using harness::Checker;
namespace io = harness::io;

static void line(Checker &checker, const std::string &text) {
  std::istringstream words(text);
  std::string verb;
  words >> verb;
  if (verb == "device") {
    io::DeviceConfig device;
    int keep = 0;
    words >> device.tick_us >> device.link_timeout_ms >> keep >> device.boot_delay_ms;
    device.link_keep = keep != 0;
    checker.device(device);
  } else if (verb == "channel") {
    io::ChannelConfig config{};
    int kind = 0, inverted = 0, safe = 0, restore = 0, actors = 0, group = 0;
    words >> kind >> inverted >> safe >> restore >> actors >> group >> config.max_on_ms >> config.min_on_ms >>
        config.min_off_ms >> config.pulse_ms >> config.debounce_ms;
    config.id = "channel";
    config.kind = static_cast<io::Kind>(kind);
    config.inverted = inverted != 0;
    config.safe = safe != 0;
    config.restore = restore != 0;
    config.actors = static_cast<uint8_t>(actors);
    config.group = static_cast<uint8_t>(group);
    checker.channel(config);
  } else if (verb == "begin") {
    uint64_t restored = 0;
    words >> restored;
    checker.begin(restored);
  } else if (verb == "restart") {
    checker.restart();
  } else if (verb == "command") {
    int channel = 0, op = 0, actor = 0;
    int32_t duration = 0;
    words >> channel >> op >> actor >> duration;
    checker.command(static_cast<uint8_t>(channel), static_cast<io::Op>(op), static_cast<uint8_t>(actor), duration);
  } else {
    long first = 0, second = 0;
    words >> first >> second;
    if (verb == "ticks")
      checker.ticks(static_cast<uint32_t>(first));
    else if (verb == "late")
      checker.late(static_cast<uint32_t>(first));
    else if (verb == "link")
      checker.link(first != 0);
    else if (verb == "hold")
      checker.hold(first != 0);
    else if (verb == "input")
      checker.input(static_cast<uint8_t>(first), second != 0);
    else if (verb == "stick")
      checker.stick(static_cast<uint8_t>(first), second != 0);
    else
      fprintf(stderr, "unknown instruction: %s\n", text.c_str());
  }
}

int main() {
  std::string text;
  auto checker = std::make_unique<Checker>();
  int number = 0;
  std::string first_violation;
  while (std::getline(std::cin, text)) {
    if (text != "run") {
      number++;
      if (first_violation.empty()) {
        line(*checker, text);
        if (!checker->violation().empty())
          first_violation = "instruction " + std::to_string(number) + " (" + text + ") " + checker->violation();
      }
      continue;
    }
    if (first_violation.empty()) {
      printf("ok %llu %llu %llu\n", static_cast<unsigned long long>(checker->ticks_done()),
             static_cast<unsigned long long>(checker->commands_done()),
             static_cast<unsigned long long>(checker->accepted()));
    } else {
      printf("violation %s\n", first_violation.c_str());
    }
    fflush(stdout);
    checker = std::make_unique<Checker>();
    number = 0;
    first_violation.clear();
  }
  return 0;
}
