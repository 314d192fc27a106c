// The seam between the threads, for the thread sanitizer: a main loop that submits and polls, the real I/O
// task, and a third thread that drives inputs and reads edges as the control socket does.
// Prints "ok <commands> <answers> <lost>"; every command must have been answered once.

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <unistd.h>
#include <vector>

#include "io_task.h"
#include "pins_host.h"

using namespace esphome::mimiclaw_io;

static std::atomic<uint32_t> wakes{0};

static ChannelConfig relay(const char *id, uint8_t group) {
  ChannelConfig config{};
  config.id = id;
  config.kind = Kind::RELAY;
  config.actors = 7;
  config.group = group;
  return config;
}

int main(int argc, char **argv) {
  const int wanted = argc > 1 ? atoi(argv[1]) : 20000;
  std::vector<ChannelConfig> channels{relay("a", 1), relay("b", 1), relay("c", 0)};
  ChannelConfig input{};
  input.id = "d";
  input.kind = Kind::INPUT;
  input.debounce_ms = 2;
  channels.push_back(input);
  const auto count = static_cast<uint8_t>(channels.size());

  static HostPins pins;
  static IoRunner runner(pins);
  static IoTask task(runner, [] { wakes.fetch_add(1); });
  pins.begin(channels.data(), count);
  DeviceConfig device;
  device.link_timeout_ms = 5;
  runner.begin(channels.data(), count, device, 0, IoTask::now_us());
  TaskConfig config;
  config.priority = 1;
  if (!task.start(config))
    return 2;

  std::atomic<bool> done{false};
  std::thread control([&] {
    unsigned round = 0;
    while (!done.load()) {
      pins.drive(3, ++round % 2 != 0);
      if (pins.edges(0, 0).size() > HostPins::EDGES || runner.jitter().percentile_us(0.99f) > 60000000)
        abort();
      usleep(700);
    }
  });

  std::vector<int> answers(static_cast<size_t>(wanted) + 1, 0);
  int submitted = 0, answered = 0, spare = 0;
  const uint64_t end = IoTask::now_us() + 60000000;
  while ((answered < wanted || spare < 50) && IoTask::now_us() < end) {
    for (int burst = 0; burst < 20 && submitted < wanted; burst++) {
      Command command;
      command.call = static_cast<uint32_t>(submitted + 1);
      command.channel = static_cast<uint8_t>(rand() % 4);
      command.op = static_cast<Op>(rand() % 5);
      command.actor = 4;
      command.duration_ms = rand() % 8 == 0 ? 3 : 0;
      if (!runner.submit(command))
        break;
      submitted++;
    }
    task.notify();
    if (rand() % 3 == 0)
      runner.link_seen();
    if (rand() % 200 == 0)
      runner.declare_stalled();
    if (rand() % 200 == 0)
      runner.request_hold(rand() % 2 == 0);
    Message message;
    while (runner.poll(message)) {
      if (message.type != Message::Type::RESULT)
        continue;
      answers[message.result.call]++;
      answered++;
    }
    if (runner.take_overflow() && runner.live_state(0) && runner.live_state(1))
      abort();
    if (answered >= wanted)
      spare++;
    usleep(200);
  }
  done.store(true);
  control.join();
  task.stop();
  for (int i = 1; i <= wanted; i++) {
    if (answers[static_cast<size_t>(i)] != 1) {
      printf("command %d was answered %d times\n", i, answers[static_cast<size_t>(i)]);
      return 1;
    }
  }
  printf("ok %d %d %u\n", submitted, answered, runner.lost_messages());
  return wakes.load() == 0 ? 3 : 0;
}
