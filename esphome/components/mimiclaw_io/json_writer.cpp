#include "json_writer.h"

#include <cmath>
#include <cstdio>

namespace esphome::mimiclaw_io {

void JsonWriter::separate_() {
  if (!this->first_)
    this->text_ += ',';
  this->first_ = false;
}

JsonWriter &JsonWriter::begin_object() {
  this->separate_();
  this->text_ += '{';
  this->first_ = true;
  return *this;
}

JsonWriter &JsonWriter::end_object() {
  this->text_ += '}';
  this->first_ = false;
  return *this;
}

JsonWriter &JsonWriter::begin_array() {
  this->separate_();
  this->text_ += '[';
  this->first_ = true;
  return *this;
}

JsonWriter &JsonWriter::end_array() {
  this->text_ += ']';
  this->first_ = false;
  return *this;
}

JsonWriter &JsonWriter::key(const char *name) {
  this->value(name);
  this->text_ += ':';
  this->first_ = true;
  return *this;
}

JsonWriter &JsonWriter::value(const char *text) {
  this->separate_();
  this->text_ += '"';
  for (const char *c = text; *c != '\0'; c++) {
    const auto byte = static_cast<unsigned char>(*c);
    if (byte == '"' || byte == '\\') {
      this->text_ += '\\';
      this->text_ += *c;
    } else if (byte < 0x20) {
      char escape[8];
      snprintf(escape, sizeof(escape), "\\u%04x", static_cast<unsigned>(byte));
      this->text_ += escape;
    } else {
      this->text_ += *c;
    }
  }
  this->text_ += '"';
  return *this;
}

JsonWriter &JsonWriter::value(bool flag) { return this->raw(flag ? "true" : "false"); }

JsonWriter &JsonWriter::value(long long number) {
  char buffer[24];
  snprintf(buffer, sizeof(buffer), "%lld", number);
  return this->raw(buffer);
}

JsonWriter &JsonWriter::real(float number, int decimals) {
  if (!std::isfinite(number))
    return this->null();
  char buffer[32];
  snprintf(buffer, sizeof(buffer), "%.*f", decimals, static_cast<double>(number));
  return this->raw(buffer);
}

JsonWriter &JsonWriter::null() { return this->raw("null"); }

JsonWriter &JsonWriter::raw(const char *json) {
  this->separate_();
  this->text_ += json;
  return *this;
}

}  // namespace esphome::mimiclaw_io
