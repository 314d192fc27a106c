#include "mimiclaw_io.h"

#include <initializer_list>

#include "esphome/components/api/api_server.h"
#include "esphome/components/api/user_services.h"
#include "esphome/core/application.h"
#include "esphome/core/hal.h"
#include "esphome/core/helpers.h"

namespace esphome::mimiclaw_io {

// A page of the description: half of what one encrypted frame carries, so names in any script fit.
static constexpr size_t DESCRIBE_PAGE_BYTES = 24 * 1024;

namespace {

// Name of the action, then of its arguments, in the layout UserServiceStatic expects.
#ifdef USE_API_USER_DEFINED_ACTION_METADATA
#define MIMICLAW_ACTION(name) name, nullptr
#define MIMICLAW_ARG(name) , name, nullptr, nullptr
#else
#define MIMICLAW_ACTION(name) name
#define MIMICLAW_ARG(name) , name
#endif
const char *const WRITE_STRINGS[] = {MIMICLAW_ACTION("mimiclaw_write") MIMICLAW_ARG("channel") MIMICLAW_ARG("state")
                                         MIMICLAW_ARG("duration_ms") MIMICLAW_ARG("actor")};
const char *const READ_STRINGS[] = {MIMICLAW_ACTION("mimiclaw_read") MIMICLAW_ARG("channel")};
const char *const DESCRIBE_STRINGS[] = {MIMICLAW_ACTION("mimiclaw_describe")};
const char *const DESCRIBE_PAGE_STRINGS[] = {MIMICLAW_ACTION("mimiclaw_describe_page") MIMICLAW_ARG("page")};

class WriteAction : public api::UserServiceBase<std::string, std::string, int32_t, std::string> {
 public:
  explicit WriteAction(MimiClawIO *io)
      : UserServiceBase(WRITE_STRINGS, fnv1_hash("mimiclaw_write"), api::enums::SUPPORTS_RESPONSE_OPTIONAL), io_(io) {}

 protected:
  void execute(uint32_t call, bool wants_data, std::string channel, std::string state, int32_t duration_ms,
               std::string actor) override {
    this->io_->action_write(call, wants_data, channel, state, duration_ms, actor);
  }
  MimiClawIO *io_;
};

class ReadAction : public api::UserServiceBase<std::string> {
 public:
  explicit ReadAction(MimiClawIO *io)
      : UserServiceBase(READ_STRINGS, fnv1_hash("mimiclaw_read"), api::enums::SUPPORTS_RESPONSE_OPTIONAL), io_(io) {}

 protected:
  void execute(uint32_t call, bool wants_data, std::string channel) override {
    this->io_->action_read(call, wants_data, channel);
  }
  MimiClawIO *io_;
};

class DescribeAction : public api::UserServiceBase<> {
 public:
  explicit DescribeAction(MimiClawIO *io)
      : UserServiceBase(DESCRIBE_STRINGS, fnv1_hash("mimiclaw_describe"), api::enums::SUPPORTS_RESPONSE_ONLY),
        io_(io) {}

 protected:
  void execute(uint32_t call, bool /*wants_data*/) override { this->io_->action_describe(call, 0); }
  MimiClawIO *io_;
};

class DescribePageAction : public api::UserServiceBase<int32_t> {
 public:
  explicit DescribePageAction(MimiClawIO *io)
      : UserServiceBase(DESCRIBE_PAGE_STRINGS, fnv1_hash("mimiclaw_describe_page"), api::enums::SUPPORTS_RESPONSE_ONLY),
        io_(io) {}

 protected:
  void execute(uint32_t call, bool /*wants_data*/, int32_t page) override { this->io_->action_describe(call, page); }
  MimiClawIO *io_;
};

Op op_from_name(const std::string &name) {
  if (name == "on")
    return Op::ON;
  if (name == "off")
    return Op::OFF;
  if (name == "toggle")
    return Op::TOGGLE;
  if (name == "pulse")
    return Op::PULSE;
  return Op::UNKNOWN;
}

}  // namespace

void MimiClawIO::setup_actions_() {
  // NOLINTBEGIN(cppcoreguidelines-owning-memory): they live as long as the device
  api::global_api_server->register_user_service(new WriteAction(this));
  api::global_api_server->register_user_service(new ReadAction(this));
  api::global_api_server->register_user_service(new DescribeAction(this));
  api::global_api_server->register_user_service(new DescribePageAction(this));
  // NOLINTEND(cppcoreguidelines-owning-memory)
}

uint8_t MimiClawIO::find_channel(const std::string &id) const {
  for (uint8_t i = 0; i < this->channel_count(); i++) {
    if (id == this->channels_[i].id)
      return i;
  }
  return NO_CHANNEL;
}

void MimiClawIO::action_write(uint32_t call, bool wants_data, const std::string &channel, const std::string &state,
                              int32_t duration_ms, const std::string &actor) {
  Command command;
  command.call = call;
  command.channel = this->find_channel(channel);
  command.op = op_from_name(state);
  command.actor = actor_from_name(actor.c_str());
  command.duration_ms = duration_ms;
  this->submit_(command, wants_data, channel);
}

void MimiClawIO::action_read(uint32_t call, bool wants_data, const std::string &channel) {
  Command command;
  command.call = call;
  command.channel = this->find_channel(channel);
  this->submit_(command, wants_data, channel);
}

void MimiClawIO::submit_(const Command &command, bool wants_data, const std::string &channel) {
  const Pending pending{command.call, wants_data, channel};
  const bool stalled = this->stalled_ || (command.op != Op::READ && this->late_());
  if (!stalled && this->runner_.submit(command)) {
    if (command.call != 0)
      this->pending_.push_back(pending);
    this->task_.notify();
    return;
  }
  Result result;
  result.call = command.call;
  result.channel = command.channel;
  result.code = stalled ? Code::STALLED : Code::QUEUE_FULL;
  this->refused_here_[static_cast<uint8_t>(result.code)]++;
  this->answer_(pending, result);
}

void MimiClawIO::answer_(const Pending &pending, const Result &result) {
  if (pending.call == 0)
    return;
  const bool ok = result.code == Code::OK;
  const bool analog = result.channel != NO_CHANNEL && this->channels_[result.channel].kind == Kind::ANALOG;
  JsonWriter json;
  json.begin_object().flag("ok", ok).text("channel", pending.channel.c_str()).key("state");
  if (result.known && !analog) {
    json.value(result.state);
  } else {
    json.null();
  }
  if (analog) {
    json.key("value");
    if (result.known) {
      json.real(result.value);
    } else {
      json.null();
    }
  }
  json.text("code", code_name(result.code)).number("wait_ms", result.wait_ms).number("limit_ms", result.limit_ms);
  json.text("other", result.other == NO_CHANNEL ? "" : this->channels_[result.other].id);
  json.number("deadline_ms", result.deadline_ms).end_object();
  this->respond_(pending.call, pending.wants_data, ok, code_name(result.code), json.json());
}

void MimiClawIO::respond_(uint32_t call, bool wants_data, bool ok, const char *error, const std::string &json) {
  if (call == 0)
    return;
  api::APIServer *server = api::global_api_server;
  if (wants_data) {
    // A refusal is an answer too: the call itself went well.
    server->send_action_response(call, true, StringRef(), reinterpret_cast<const uint8_t *>(json.data()), json.size());
  } else {
    server->send_action_response(call, ok, ok ? StringRef() : StringRef(error));
  }
  server->unregister_active_action_call(call);
}

void MimiClawIO::describe_channel_(uint8_t channel, JsonWriter &json) const {
  const ChannelConfig &config = this->channels_[channel];
  const ChannelInfo &info = this->info_[channel];
  json.begin_object().text("id", config.id).text("name", info.name).text("kind", kind_name(config.kind));
  json.key("names").raw(info.names_json);
  json.number("momentary_ms", config.pulse_ms).number("max_on_ms", config.max_on_ms);
  json.number("min_on_ms", config.min_on_ms).number("min_off_ms", config.min_off_ms);
  json.text("interlock", info.interlock).flag("safe", config.safe).flag("restore", config.restore);
  json.key("actors").begin_array();
  for (Actor actor : {Actor::FAST_PATH, Actor::AGENT, Actor::AUTOMATION}) {
    if ((config.actors & static_cast<uint8_t>(actor)) != 0)
      json.value(actor_name(static_cast<uint8_t>(actor)));
  }
  json.end_array().flag("confirm", config.confirm).number("pin", config.pin);
  json.text("unit", info.unit).text("device_class", info.device_class);
  EntityBase *entity = info.switch_entity;
  if (info.button_entity != nullptr)
    entity = info.button_entity;
  if (info.binary_sensor_entity != nullptr)
    entity = info.binary_sensor_entity;
  if (info.sensor_entity != nullptr)
    entity = info.sensor_entity;
  char object_id[OBJECT_ID_MAX_LEN];
  entity->write_object_id_to(object_id, sizeof(object_id));
  json.text("object_id", object_id).number("key", entity->get_object_id_hash());
  json.key("state");
  if (config.kind == Kind::ANALOG) {
    json.null().key("value").real(this->values_[channel]);
  } else {
    json.value(static_cast<bool>(this->states_[channel])).key("value").null();
  }
  json.end_object();
}

void MimiClawIO::action_describe(uint32_t call, int32_t page) {
  if (call == 0)
    return;
  // Pages are cut by size alone, so the same page holds the same channels as long as the firmware runs.
  std::string channels;
  int32_t pages = 0;
  size_t used = 0;
  for (uint8_t i = 0; i < this->channel_count(); i++) {
    JsonWriter one;
    this->describe_channel_(i, one);
    if (i == 0 || used + one.size() > DESCRIBE_PAGE_BYTES) {
      pages++;
      used = 0;
    }
    used += one.size();
    if (pages - 1 != page)
      continue;
    if (!channels.empty())
      channels += ',';
    channels += one.json();
  }
  char mac[MAC_ADDRESS_PRETTY_BUFFER_SIZE];
  JsonWriter json;
  json.begin_object().number("v", 1).text("name", App.get_name().c_str());
  json.text("friendly_name", App.get_friendly_name().c_str());
#ifdef ESPHOME_PROJECT_NAME
  json.text("project", ESPHOME_PROJECT_NAME).text("version", ESPHOME_PROJECT_VERSION);
#else
  json.text("project", "").text("version", "");
#endif
  json.text("mac", get_mac_address_pretty_into_buffer(mac)).number("core", this->task_config_.core);
  json.number("tick_us", this->device_.tick_us).number("link_timeout_ms", this->device_.link_timeout_ms);
  json.text("link_loss", this->device_.link_keep ? "keep" : "safe");
  json.number("page", page).number("pages", pages);
  channels = "[" + channels + "]";
  json.key("channels").raw(channels.c_str()).end_object();
  this->respond_(call, true, true, "", json.json());
}

}  // namespace esphome::mimiclaw_io
