#include "caffe2_core/graph/plan_blobs.h"

#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <tuple>

#include "caffe2_core/graph/net_blobs.h"

namespace caffe2rt {
namespace {

class BlobFollower {
 public:
  explicit BlobFollower(const PlanDef& plan) : plan_(plan) {
    for (const NetDef& net : plan.network()) nets_.emplace(net.name(), nullptr);
    for (const NetDef& net : plan.network()) {
      std::unique_ptr<NetBlobs>& blobs = nets_.at(net.name());
      if (blobs == nullptr) blobs = std::make_unique<NetBlobs>(net);
    }
  }

  std::vector<BlobFlow> Follow() {
    for (const ExecutionStep& step : plan_.execution_step()) RunStep(step, true, false);
    return std::move(flows_);
  }

 private:
  static bool Repeats(const ExecutionStep& step) {
    return step.num_iter() > 1 || !step.should_stop_blob().empty();
  }

  // Runs the step, and if it is repeated and `repeat` is set, a second time. The steps inside are
  // not repeated in the second run, so that the time does not double with each level.
  void RunStep(const ExecutionStep& step, bool repeat, bool again) {
    RunOnce(step, repeat, again);
    if (repeat && Repeats(step)) RunOnce(step, false, true);
  }

  void RunOnce(const ExecutionStep& step, bool repeat, bool again) {
    for (const ExecutionStep& substep : step.substep()) RunStep(substep, repeat, again);
    for (const std::string& net : step.network()) RunNet(net, again);
    if (!step.report_net().empty()) RunNet(step.report_net(), again);
    const std::string& stop = step.should_stop_blob();
    if (!stop.empty()) Read(stop, step.name(), true, again);
  }

  void RunNet(const std::string& name, bool again) {
    const auto found = nets_.find(name);
    if (found == nets_.end()) return;
    const NetBlobs& blobs = *found->second;
    for (const uint32_t blob : blobs.read_first()) Read(blobs.name(blob), name, false, again);
    for (const uint32_t blob : blobs.written()) writers_[blobs.name(blob)] = &found->first;
  }

  void Read(const std::string& blob, const std::string& reader, bool is_step, bool again) {
    const auto writer = writers_.find(blob);
    const std::string& from = writer == writers_.end() ? outside_ : *writer->second;
    if (!seen_.insert({blob, from, reader, is_step}).second) return;
    flows_.push_back({.blob = blob,
                      .from = from,
                      .to = reader,
                      .to_step = is_step,
                      .next_iteration = again && !from.empty()});
  }

  const PlanDef& plan_;
  const std::string outside_;
  std::map<std::string, std::unique_ptr<NetBlobs>> nets_;
  std::map<std::string_view, const std::string*> writers_;  // the net that wrote a blob last
  // blob, writer, reader, whether the reader is a step
  std::set<std::tuple<std::string_view, std::string_view, std::string_view, bool>> seen_;
  std::vector<BlobFlow> flows_;
};

}  // namespace

std::vector<BlobFlow> FollowBlobs(const PlanDef& plan) { return BlobFollower(plan).Follow(); }

}  // namespace caffe2rt
