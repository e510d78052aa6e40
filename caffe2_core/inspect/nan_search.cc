#include "caffe2_core/inspect/nan_search.h"

#include <algorithm>
#include <memory>
#include <set>
#include <tuple>
#include <utility>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/graph/blob_versions.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/inspect/blob_watch.h"
#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/workspace.h"
#include "caffe2_core/tensor/tensor_stats.h"

namespace caffe2rt {
namespace {

// Whether the operator only prints or writes files, which a second run must not repeat.
bool OnlyReports(const OperatorDef& op) {
  if (op.output_size() > 0) return false;
  const OpSchema* const schema = OpSchemaRegistry::Schema(op.type());
  return schema != nullptr &&
         (schema->has_effect(Effect::kFiles, op) || schema->has_effect(Effect::kOutput, op));
}

// A net without the operators that only report, and the positions that its operators had before.
struct QuietNet {
  explicit QuietNet(const NetDef& net) : def(net) {
    def.clear_op();
    for (int i = 0; i < net.op_size(); ++i) {
      if (OnlyReports(net.op(i))) continue;
      *def.add_op() = net.op(i);
      positions.push_back(i);
    }
    def = NetToWatch(std::move(def));
  }
  NetDef def;
  std::vector<int> positions;
};

class NaNSearch {
 public:
  NaNSearch(const NetDef& net, const std::string& output, Workspace* ws)
      : net_(net), ws_(ws), versions_(net_.def.op()), output_(output) {
    output_version_ = versions_.AddFinalUse(output);
    found_.resize(versions_.size());
  }

  std::optional<NaNOrigin> Find(int64_t runs) {
    NetBase* const net = ws_->CreateNet(net_.def);
    CAFFE_ENFORCE(net != nullptr, "net \"", net_.def.name(), "\" cannot be created");
    const BlobWatch watch(net_.def, net, [this](const BlobWrite& write) {
      const auto position = static_cast<size_t>(write.position);
      found_[versions_.outputs(position).at(write.name)] = NonFiniteIn(write.blob);
    });
    for (int64_t run = 1; run <= runs; ++run) {
      LookAtInputs();
      CAFFE_ENFORCE(net->Run(), "net \"", net->Name(), "\" failed");
      if (!found_[output_version_].nan) continue;
      NaNOrigin origin = Trace();
      origin.run = run;
      return origin;
    }
    return std::nullopt;
  }

 private:
  using Version = BlobVersions::Version;

  size_t Size() const { return net_.positions.size(); }

  void LookAtInput(const std::string& name, Version version) {
    if (versions_.writer(version).has_value()) return;
    const std::shared_ptr<Blob> blob = ws_->FindBlob(name);
    found_[version] = blob != nullptr ? NonFiniteIn(*blob) : NonFinite{};
  }
  // Looks at the blobs that come from outside the net.
  void LookAtInputs() {
    std::set<Version> seen;
    for (size_t op = 0; op < Size(); ++op) {
      for (const auto& [name, version] : versions_.inputs(op)) {
        if (seen.insert(version).second) LookAtInput(std::string(name), version);
      }
    }
    LookAtInput(output_, output_version_);
  }

  // Follows the NaN of the output back to where it began.
  NaNOrigin Trace() const {
    std::vector<std::pair<std::string, Version>> open = {{output_, output_version_}};
    std::set<Version> seen = {output_version_};
    std::optional<NaNOrigin> first;
    while (!open.empty()) {
      const auto [name, version] = open.back();
      open.pop_back();
      const std::optional<size_t> writer = versions_.writer(version);
      bool begins = true;
      if (writer.has_value()) {
        for (const auto& [input, read] : versions_.inputs(*writer)) {
          if (!found_[read].nan) continue;
          begins = false;
          if (seen.insert(read).second) open.emplace_back(input, read);
        }
      }
      if (!begins) continue;
      NaNOrigin origin = OriginAt(name, writer);
      const auto key = [](const NaNOrigin& at) { return std::tie(at.position, at.blob); };
      if (!first.has_value() || key(origin) < key(*first)) first = std::move(origin);
    }
    return *first;
  }

  NaNOrigin OriginAt(const std::string& name, std::optional<size_t> writer) const {
    NaNOrigin origin{.blob = name};
    if (!writer.has_value()) return origin;
    const OperatorDef& op = net_.def.op(static_cast<int>(*writer));
    origin.position = net_.positions[*writer];
    origin.op = OperatorText(op);
    for (size_t i = 0; i < static_cast<size_t>(op.input_size()); ++i) {
      if (!found_[versions_.input(*writer, i)].infinite) continue;
      origin.infinite_inputs.push_back(op.input(static_cast<int>(i)));
    }
    return origin;
  }

  const QuietNet net_;
  Workspace* const ws_;
  BlobVersions versions_;
  const std::string output_;
  Version output_version_ = 0;
  std::vector<NonFinite> found_;  // by version
};

}  // namespace

std::string NaNOrigin::Text() const {
  if (position < 0) return MakeString("blob \"", blob, "\", before the net runs");
  std::string text =
      MakeString("blob \"", blob, "\", written by operator ", position, " (", op, ")");
  for (size_t i = 0; i < std::min<size_t>(infinite_inputs.size(), 3); ++i) {
    text += MakeString(i == 0 ? " from infinities in \"" : "\", \"", infinite_inputs[i]);
  }
  return infinite_inputs.empty() ? text : text + "\"";
}

std::optional<NaNOrigin> FindNaNOrigin(const NetDef& net, const std::string& output, int64_t runs,
                                       Workspace* ws) {
  CAFFE_ENFORCE(ws != nullptr, "argument ws of FindNaNOrigin is null");
  return NaNSearch(net, output, ws).Find(runs);
}

}  // namespace caffe2rt
