#include "caffe2_core/runtime/device_waits.h"

#include <exception>
#include <map>
#include <unordered_map>
#include <utility>

#include "caffe2rt/caffe2.pb.h"

namespace caffe2rt {
namespace {

// A stream that keeps order: (type, id) of a device, or (CPU, position) of an operator that has one
// to itself.
using StreamKey = std::pair<int, int64_t>;

StreamKey KeyOf(const OperatorBase& op, size_t position) {
  const DeviceOption& option = op.device_option();
  if (option.device_type() == CPU) return {CPU, static_cast<int64_t>(position)};
  // Without an id it is the current device, which may be any: a stream of its own, at the price of
  // a wait.
  return {option.device_type(), option.has_device_id() ? option.device_id() : -1};
}

class Planner {
 public:
  // The work to finish before an operator that touches these blobs; `own` is its stream, null for
  // the CPU.
  template <class Blobs>
  void WaitForBlobs(const Blobs& blobs, const StreamKey* own, std::vector<DeviceWork>* waits) {
    for (const Blob* blob : blobs) {
      const auto users = users_.find(blob);
      if (users == users_.end()) continue;
      for (const auto& [key, position] : users->second) {
        if (own != nullptr && key == *own) continue;
        const auto work = pending_.find(key);
        // Users from before the last wait for the stream are past.
        if (work == pending_.end() || position < work->second.first_position) continue;
        waits->push_back(work->second);
        pending_.erase(work);
      }
    }
  }

  template <class Blobs>
  void Touch(const Blobs& blobs, const StreamKey& key, size_t position) {
    for (const Blob* blob : blobs) users_[blob][key] = position;
  }

  void Start(OperatorBase* op, const StreamKey& key, size_t position) {
    const auto [work, fresh] = pending_.try_emplace(key, DeviceWork{op, position, position});
    if (!fresh) {
      work->second.last = op;
      work->second.last_position = position;
    }
  }

  std::vector<DeviceWork> Rest() const {
    std::vector<DeviceWork> rest;
    for (const auto& [key, work] : pending_) rest.push_back(work);
    return rest;
  }

 private:
  std::map<StreamKey, DeviceWork> pending_;
  // The last operator of each stream that touched a blob.
  std::unordered_map<const Blob*, std::map<StreamKey, size_t>> users_;
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

}  // namespace

std::vector<std::vector<DeviceWork>> PlanDeviceWaits(const std::vector<OperatorBase*>& operators) {
  std::vector<std::vector<DeviceWork>> waits(operators.size() + 1);
  Planner planner;
  for (size_t i = 0; i < operators.size(); ++i) {
    OperatorBase* const op = operators[i];
    const bool leaves_work = op->HasAsyncPart();
    const StreamKey key = KeyOf(*op, i);
    const StreamKey* own = leaves_work ? &key : nullptr;
    planner.WaitForBlobs(op->Inputs(), own, &waits[i]);
    planner.WaitForBlobs(op->Outputs(), own, &waits[i]);
    if (!leaves_work) continue;
    planner.Touch(op->Inputs(), key, i);
    planner.Touch(op->Outputs(), key, i);
    planner.Start(op, key, i);
  }
  waits.back() = planner.Rest();
  return waits;
}

void FinishDeviceWork(const std::vector<DeviceWork>& work) {
  for (const DeviceWork& piece : work) {
    try {
      piece.last->FinishDevice();
    } catch (EnforceNotMet& error) {
      error.AppendMessage(NameOf(piece));
      throw;
    }
  }
}

}  // namespace caffe2rt
