#include "operators/recurrent/step_arguments.h"

#include <algorithm>
#include <map>
#include <set>

#include "caffe2_core/device/device_type.h"
#include "caffe2_core/graph/net_blobs.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/io/proto_file.h"

namespace caffe2rt {

namespace {

using Names = std::vector<std::string>;

// The names that arguments such as "x.rename" replace.
class Renames {
 public:
  explicit Renames(const OperatorDef& def) {
    static const std::string ending = ".rename";
    for (const Argument& arg : def.arg()) {
      if (!arg.name().ends_with(ending) || !arg.has_s()) continue;
      names_[arg.name().substr(0, arg.name().size() - ending.size())] = arg.s();
    }
  }
  bool empty() const { return names_.empty(); }
  std::string Of(const std::string& name) const {
    const auto found = names_.find(name);
    return found == names_.end() ? name : found->second;
  }
  Names Of(Names names) const {
    for (std::string& name : names) name = Of(name);
    return names;
  }

 private:
  std::map<std::string, std::string> names_;
};

void CheckSizes(const char* one, size_t size, const char* other, size_t other_size) {
  CAFFE_ENFORCE_EQ(other_size, size, "entries of argument ", other, ", want those of argument ",
                   one);
}

std::vector<StepLink> MakeLinks(const Names& internal, const Names& external,
                                const std::vector<int>& offset, const std::vector<int>& window,
                                const char* const (&names)[4]) {
  CheckSizes(names[0], internal.size(), names[1], external.size());
  CheckSizes(names[0], internal.size(), names[2], offset.size());
  if (!window.empty()) CheckSizes(names[0], internal.size(), names[3], window.size());
  std::vector<StepLink> links;
  for (size_t i = 0; i < internal.size(); ++i) {
    CAFFE_ENFORCE(offset[i] >= 0 && (window.empty() || window[i] >= 0), "link of blob \"",
                  internal[i], "\" has offset ", offset[i], " and window ",
                  window.empty() ? 1 : window[i], ", want at least 0");
    links.push_back({internal[i], external[i], offset[i], window.empty() ? 1 : window[i]});
  }
  return links;
}

// Renames the blobs that the step net reads from the workspace. Linked blobs are its own.
void RenameInputs(const OperatorDef& def, NetDef* net) {
  const Renames renames(def);
  if (renames.empty()) return;
  const ArgumentHelper args(def);
  std::set<std::string> linked;
  for (const auto* spec : {&kLinkInternal, &kBackwardLinkInternal}) {
    for (const std::string& name : args.Read(*spec)) linked.insert(name);
  }
  const NetDef before = *net;
  const NetBlobs blobs(before);
  for (int i = 0; i < net->op_size(); ++i) {
    OperatorDef* const op = net->mutable_op(i);
    const auto writers = blobs.input_writers(static_cast<size_t>(i));
    for (int k = 0; k < op->input_size(); ++k) {
      if (writers[static_cast<size_t>(k)] != NetBlobs::kNone || linked.contains(op->input(k))) {
        continue;
      }
      op->set_input(k, renames.Of(op->input(k)));
    }
  }
  for (std::string& name : *net->mutable_external_input()) {
    if (!linked.contains(name)) name = renames.Of(name);
  }
}

// A step net that names no device runs on that of the operator, where its linked blobs are.
void InheritDevice(const OperatorDef& def, NetDef* net) {
  const DeviceOption& device = def.device_option();
  const bool is_placed = net->has_device_option() ||
                         std::any_of(net->op().begin(), net->op().end(),
                                     [](const OperatorDef& op) { return op.has_device_option(); });
  if (is_placed || device.device_type() == CPU) return;
  net->mutable_device_option()->set_device_type(device.device_type());
  if (device.has_device_id()) net->mutable_device_option()->set_device_id(device.device_id());
}

const Argument* FindStepNet(const OperatorDef& def, const ArgumentSpec<std::string>& spec) {
  for (const Argument& arg : def.arg()) {
    if (arg.name() == spec.name && (arg.has_n() || !arg.s().empty())) return &arg;
  }
  return nullptr;
}

}  // namespace

StepArguments ReadStepArguments(const OperatorDef& def) {
  const ArgumentHelper args(def);
  const Renames renames(def);
  StepArguments result;
  result.timestep = renames.Of(args.Read(kTimestep));
  result.states = renames.Of(args.Read(kRecurrentStates));
  result.initial_ids = args.Read(kInitialStateIds);
  CheckSizes(kRecurrentStates.name, result.states.size(), kInitialStateIds.name,
             result.initial_ids.size());
  result.links =
      MakeLinks(renames.Of(args.Read(kLinkInternal)), renames.Of(args.Read(kLinkExternal)),
                args.Read(kLinkOffset), args.Read(kLinkWindow),
                {kLinkInternal.name, kLinkExternal.name, kLinkOffset.name, kLinkWindow.name});
  const Names sources = renames.Of(args.Read(kAliasSource));
  const Names targets = renames.Of(args.Read(kAliasTarget));
  const std::vector<int> offsets = args.Read(kAliasOffset);
  CheckSizes(kAliasSource.name, sources.size(), kAliasTarget.name, targets.size());
  CheckSizes(kAliasSource.name, sources.size(), kAliasOffset.name, offsets.size());
  for (size_t i = 0; i < sources.size(); ++i) {
    result.aliases.push_back({sources[i], targets[i], offsets[i]});
  }
  result.outputs_with_grads = args.Read(kOutputsWithGrads);
  result.params = args.Read(kRecurrentParam);
  result.param_grads = renames.Of(args.Read(kRecurrentParamGrads));
  result.recomputed = args.Read(kRecomputeBlobs);
  return result;
}

std::vector<StepLink> ReadBackwardLinks(const OperatorDef& def) {
  const ArgumentHelper args(def);
  const Renames renames(def);
  return MakeLinks(
      renames.Of(args.Read(kBackwardLinkInternal)), renames.Of(args.Read(kBackwardLinkExternal)),
      args.Read(kBackwardLinkOffset), {},
      {kBackwardLinkInternal.name, kBackwardLinkExternal.name, kBackwardLinkOffset.name, ""});
}

bool HasStepNet(const OperatorDef& def, const ArgumentSpec<std::string>& spec) {
  return FindStepNet(def, spec) != nullptr;
}

NetDef ReadStepNet(const OperatorDef& def, const ArgumentSpec<std::string>& spec) {
  const Argument* const arg = FindStepNet(def, spec);
  CAFFE_ENFORCE(arg != nullptr, "argument \"", spec.name, "\" is missing, want a net");
  NetDef net;
  if (arg->has_n()) {
    net = arg->n();
  } else {
    CAFFE_ENFORCE(ParseProtoFromText(arg->s(), &net), "argument \"", spec.name,
                  "\" is text that does not parse as a net");
  }
  RenameInputs(def, &net);
  InheritDevice(def, &net);
  CAFFE_ENFORCE(!net.name().empty(), "the net in argument \"", spec.name,
                "\" has no name. Net definition should have a name.");
  return net;
}

void DeclareStepArguments(OpSchema& schema) {
  schema.Arg(kStepNet.name, kStepNet.doc)
      .Arg(kBackwardStepNet.name, kBackwardStepNet.doc)
      .Args(kTimestep, kRecurrentStates, kInitialStateIds, kLinkInternal, kLinkExternal,
            kLinkOffset, kLinkWindow, kBackwardLinkInternal, kBackwardLinkExternal,
            kBackwardLinkOffset, kAliasSource, kAliasTarget, kAliasOffset, kRecomputeBlobs,
            kOutputsWithGrads, kRecurrentParam, kRecurrentParamGrads, kEnableRnnExecutor)
      .AcceptsAnyArgument();  // "<blob>.rename", and the limits of Caffe2's executor
}

}  // namespace caffe2rt
