#include "caffe2_core/executors/device_waits.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/device/event.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2rt/caffe2.pb.h"

namespace caffe2rt {
namespace {

// Identifies a stream: (device type, device id, stream id). An asynchronous operator of the CPU has
// a stream of its own, (CPU, position, 0).
using StreamKey = std::tuple<int, int64_t, int>;

StreamKey KeyOf(const OperatorBase& op, size_t position, int stream) {
  const DeviceOption& option = op.device_option();
  if (option.device_type() == CPU) return {CPU, static_cast<int64_t>(position), 0};
  // An operator without a device id runs on the current device, which is not known here. Its stream
  // is counted as different from all others, which may cost a wait.
  return {option.device_type(), option.has_device_id() ? option.device_id() : -1, stream};
}

// Gives access to OperatorBase::RecordEvent.
class EventOf : public OperatorBase {
 public:
  EventOf() = delete;
  static const Event& Record(OperatorBase* op) {
    op->ResetEvent();
    (op->*&EventOf::RecordEvent)(nullptr);
    return op->event();
  }
};

// Plans the waits by following the execution order.
//
// pending_ holds the work on each stream since the last wait for that stream. users_ holds for each
// memory the last operator that left work that writes it, and those that left work that reads it
// since, one for each stream. A read must wait for the stream of the writer, and a write for all
// of these streams, unless they are the operator's own or were finished since. A wait of the host
// finishes the whole stream, so it removes its pending work.
class Planner {
 public:
  explicit Planner(const NetDependencies& dependencies)
      : dependencies_(dependencies), users_(dependencies.size()) {}

  // Adds to `waits` the work to finish before the operator starts. `own` is the stream on which the
  // operator leaves work itself, or null if it leaves none.
  void Start(OperatorBase* op, size_t position, size_t place, const StreamKey* own,
             std::vector<DeviceWork>* waits) {
    const OpSchema* const schema = OpSchemaRegistry::Schema(op->type());
    const std::span<const uint32_t> inputs = dependencies_.inputs(position);
    const auto modifies = [schema](size_t i) {
      return schema == nullptr || schema->modifies_input(static_cast<int>(i));
    };
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (!modifies(i)) Read(inputs[i], place, own, op, waits);
    }
    for (const uint32_t blob : dependencies_.control_inputs(position)) {
      Read(blob, place, own, op, waits);
    }
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (modifies(i)) Write(inputs[i], place, own, op, waits);
    }
    for (const uint32_t blob : dependencies_.outputs(position)) Write(blob, place, own, op, waits);
    // Nets in arguments may read or write them.
    for (const uint32_t blob : dependencies_.nested(position)) Write(blob, place, own, op, waits);
    if (own == nullptr) return;
    const auto [pending, fresh] = pending_.try_emplace(
        *own, Pending{.work = {op, position, position}, .first_place = place, .last_place = place});
    if (fresh) return;
    pending->second.work.last = op;
    pending->second.work.last_position = position;
    pending->second.last_place = place;
  }

  // A stream that has waited for all work of another stream of its device stands for both.
  std::vector<DeviceWork> Rest() const {
    std::vector<DeviceWork> rest;
    for (const auto& [key, pending] : pending_) {
      if (!IsAwaitedByAnother(key, pending.last_place)) rest.push_back(pending.work);
    }
    return rest;
  }

 private:
  // Whether a stream of the same device that has pending work has waited for the stream of `key` after
  // its last work.
  bool IsAwaitedByAnother(const StreamKey& key, size_t last_place) const {
    return std::any_of(waited_.begin(), waited_.end(), [&](const auto& wait) {
      const auto& [waiting, awaited] = wait.first;
      return awaited == key && wait.second > last_place && pending_.contains(waiting) &&
             std::get<0>(waiting) == std::get<0>(key) && std::get<1>(waiting) == std::get<1>(key);
    });
  }

  struct Pending {
    DeviceWork work;
    size_t first_place = 0;
    size_t last_place = 0;
  };
  struct User {
    StreamKey key;
    size_t place = 0;  // in the execution order
  };

  struct Users {
    std::optional<User> writer;
    std::vector<User> readers;  // since the writer
  };

  void Read(uint32_t blob, size_t place, const StreamKey* own, OperatorBase* op,
            std::vector<DeviceWork>* waits) {
    Users& users = users_[dependencies_.memory(blob)];
    if (users.writer.has_value()) Finish(*users.writer, place, own, op, waits);
    if (own == nullptr) return;
    const auto same = std::find_if(users.readers.begin(), users.readers.end(),
                                   [own](const User& reader) { return reader.key == *own; });
    if (same != users.readers.end()) {
      same->place = place;
    } else {
      users.readers.push_back({.key = *own, .place = place});
    }
  }

  void Write(uint32_t blob, size_t place, const StreamKey* own, OperatorBase* op,
             std::vector<DeviceWork>* waits) {
    Users& users = users_[dependencies_.memory(blob)];
    if (users.writer.has_value()) Finish(*users.writer, place, own, op, waits);
    for (const User& reader : users.readers) Finish(reader, place, own, op, waits);
    users.readers.clear();
    users.writer.reset();
    if (own != nullptr) users.writer = User{.key = *own, .place = place};
  }

  void Finish(const User& user, size_t place, const StreamKey* own, OperatorBase* op,
              std::vector<DeviceWork>* waits) {
    if (own != nullptr && user.key == *own) return;
    const auto pending = pending_.find(user.key);
    // The user has finished if it started before the last wait for its stream.
    if (pending == pending_.end() || user.place < pending->second.first_place) return;
    waits->push_back(pending->second.work);
    if (own == nullptr || !WaitsOnDevice(*pending->second.work.last, *op)) {
      pending_.erase(pending);
      return;
    }
    // The work stays pending for the host.
    size_t& waited = waited_[{*own, user.key}];
    if (user.place < waited) {
      waits->pop_back();
      return;
    }
    waits->back().on_device = true;
    waited = place;
  }

  const NetDependencies& dependencies_;
  std::map<StreamKey, Pending> pending_;
  // By streams (waiting, waited for): the place at which the first one waited last on the device.
  std::map<std::pair<StreamKey, StreamKey>, size_t> waited_;
  std::vector<Users> users_;  // by memory
};

std::string NameOf(const DeviceWork& work) {
  const std::string device = DeviceTypeName(work.last->device_option().device_type());
  if (work.first_position == work.last_position) {
    return MakeString("work of operator ", work.last_position, " (", work.last->Describe(), ") on ",
                      device);
  }
  return MakeString("work of operators ", work.first_position, " to ", work.last_position, " (",
                    work.last->Describe(), ") on ", device);
}

// Adds a frame that names the work to what `finish` throws.
template <class Finish>
void FinishNaming(const DeviceWork& piece, Finish finish) {
  try {
    finish();
  } catch (EnforceNotMet& error) {
    error.AppendMessage(NameOf(piece));
    throw;
  }
}

void FinishPiece(const DeviceWork& piece) {
  FinishNaming(piece, [&piece] { piece.last->FinishDevice(); });
}

}  // namespace

bool HasDeviceEvent(const OperatorBase& op) {
  const auto type = static_cast<DeviceType>(op.device_option().device_type());
  return type != CPU && !op.IsEventDisabled() && EventFunctionsOf(type).create != nullptr;
}

bool WaitsOnDevice(const OperatorBase& last, const OperatorBase& op) {
  const auto type = static_cast<DeviceType>(last.device_option().device_type());
  return type != CPU && type == op.device_option().device_type() && !last.IsEventDisabled() &&
         EventFunctionsOf(type).wait[type] != nullptr;
}

const Event& RecordDeviceEvent(OperatorBase* op) { return EventOf::Record(op); }

void FinishRecordedWork(const DeviceWork& work) {
  const Event& event = work.last->event();
  event.Finish();
  if (event.Query() != EventStatus::EVENT_FAILED) return;
  FinishNaming(work, [&event] { CAFFE_THROW(event.ErrorMessage()); });
}

DeviceWaits PlanDeviceWaits(const std::vector<OperatorBase*>& operators,
                            const NetDependencies& dependencies, const ExecutionOrder& order) {
  dependencies.CheckOrder(order.positions);
  CAFFE_ENFORCE(order.streams.empty() || order.streams.size() == order.size(), "the order of ",
                order.size(), " operators has ", order.streams.size(), " streams");
  DeviceWaits waits;
  waits.before.resize(order.size());
  Planner planner(dependencies);
  for (size_t place = 0; place < order.size(); ++place) {
    const size_t position = order.positions[place];
    OperatorBase* const op = operators[position];
    const bool leaves_work = op->HasAsyncPart();
    const StreamKey key = KeyOf(*op, position, order.stream(place));
    planner.Start(op, position, place, leaves_work ? &key : nullptr, &waits.before[place]);
  }
  waits.at_end = planner.Rest();
  if (std::all_of(waits.before.begin(), waits.before.end(),
                  [](const auto& work) { return work.empty(); })) {
    waits.before.clear();
  }
  return waits;
}

void AwaitDeviceWork(const std::vector<DeviceWork>& work, OperatorBase* op, int stream_id) {
  for (const DeviceWork& piece : work) {
    if (piece.on_device) {
      op->WaitEvent(RecordDeviceEvent(piece.last), stream_id);
    } else {
      FinishPiece(piece);
    }
  }
}

void FinishDeviceWork(const std::vector<DeviceWork>& work) {
  for (const DeviceWork& piece : work) FinishPiece(piece);
}

std::string WorkUnderWay(const std::vector<OperatorBase*>& operators, const ExecutionOrder& order,
                         const DeviceWaits& waits, size_t place) {
  if (place >= order.size() || !operators[order.positions[place]]->HasAsyncPart()) return "";
  const DeviceOption& device = operators[order.positions[place]]->device_option();
  size_t first = place;
  const auto host_waits = [&waits](size_t i) {
    return waits.AreBefore(i) &&
           std::any_of(waits.before[i].begin(), waits.before[i].end(),
                       [](const DeviceWork& work) { return !work.on_device; });
  };
  for (size_t i = place; i > 0 && !host_waits(i); --i) {
    const OperatorBase& before = *operators[order.positions[i - 1]];
    if (before.HasAsyncPart() && IsSameDevice(before.device_option(), device)) first = i - 1;
  }
  if (first == place) return "";
  return MakeString("work of operators ", order.positions[first], " to ",
                    order.positions[place - 1], " on ", DeviceTypeName(device.device_type()),
                    " was under way and has failed, which may be the cause");
}

}  // namespace caffe2rt
