#pragma once

#include <string>

namespace esphome::mimiclaw_io {

/// Writes JSON straight into a string: a document tree of 32 channels would not fit beside the network
/// buffers of the chip.
class JsonWriter {
 public:
  JsonWriter &begin_object();
  JsonWriter &end_object();
  JsonWriter &begin_array();
  JsonWriter &end_array();
  JsonWriter &key(const char *name);
  JsonWriter &value(const char *text);
  JsonWriter &value(bool flag);
  JsonWriter &value(long long number);
  /// At most `decimals` decimals; null when not a number.
  JsonWriter &real(float number, int decimals = 2);
  JsonWriter &null();
  /// Text that is JSON already.
  JsonWriter &raw(const char *json);

  JsonWriter &text(const char *name, const char *text) { return this->key(name).value(text); }
  JsonWriter &flag(const char *name, bool flag) { return this->key(name).value(flag); }
  JsonWriter &number(const char *name, long long number) { return this->key(name).value(number); }

  const std::string &json() const { return this->text_; }
  size_t size() const { return this->text_.size(); }

 protected:
  void separate_();

  std::string text_;
  bool first_{true};
};

}  // namespace esphome::mimiclaw_io
