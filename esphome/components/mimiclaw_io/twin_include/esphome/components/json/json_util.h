#pragma once

// Stands in for ESPHome's json component in host builds, where its ArduinoJson library cannot always be
// fetched. The API's header names these types as soon as an action may answer with data; the satellite
// writes its answers itself (json_writer.h) and calls none of this.

#include <string>

class JsonObject {};

namespace esphome::json {

class JsonBuilder {
 public:
  JsonObject root() { return {}; }
  std::string serialize() { return "{}"; }
};

}  // namespace esphome::json
