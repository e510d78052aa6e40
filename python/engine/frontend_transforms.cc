// Transforms of nets that the front end knows by name.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "caffe2_core/base/timer.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/net_transforms.h"
#include "caffe2_core/graph/passes/fused_operators.h"
#include "caffe2_core/graph/passes/net_pass.h"
#include "caffe2_core/model/workspace_constants.h"
#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "python/engine/frontend_operators.h"
#include "python/engine/frontend_workspaces.h"
#include "python/engine/runs.h"
#include "python/engine/text.h"

namespace caffe2rt {
namespace {

namespace nb = nanobind;

constexpr char kNnpack[] = "NNPACK";

bool IsCpuConv(const OperatorDef& op) {
  return op.type() == "Conv" && op.device_option().device_type() == CPU;
}

// The library has no such engine: the operators run on the default one.
NetDef AddNnpack(NetDef net) {
  for (OperatorDef& op : *net.mutable_op()) {
    if (IsCpuConv(op)) op.set_engine(kNnpack);
  }
  return net;
}

// --- Conv and Relu ---

bool Reads(const OperatorDef& op, const std::string& blob) {
  return std::find(op.input().begin(), op.input().end(), blob) != op.input().end();
}
bool Writes(const OperatorDef& op, const std::string& blob) {
  return std::find(op.output().begin(), op.output().end(), blob) != op.output().end();
}

// The position of the only operator that reads the value of `blob` that operator `writer` wrote, or
// -1.
int OnlyReader(const NetDef& net, int writer, const std::string& blob) {
  int reader = -1;
  for (int i = writer + 1; i < net.op_size(); ++i) {
    if (Reads(net.op(i), blob)) {
      if (reader >= 0) return -1;
      reader = i;
    }
    if (Writes(net.op(i), blob)) return reader;
  }
  const auto& kept = net.external_output();
  return std::find(kept.begin(), kept.end(), blob) != kept.end() ? -1 : reader;
}

// Renames the value of `from` that operator `begin` - 1 wrote, in the operators that read it.
void RenameReads(NetDef* net, int begin, const std::string& from, const std::string& to) {
  for (int i = begin; i < net->op_size(); ++i) {
    OperatorDef& op = *net->mutable_op(i);
    for (std::string& input : *op.mutable_input()) {
      if (input == from) input = to;
    }
    if (Writes(op, from)) return;
  }
}

// Fuses a convolution with the Relu at `relu`, which is removed. A convolution cannot work in place:
// if the Relu writes one of its inputs, the value gets a new name.
bool FuseRelu(NetDef* net, int conv, int relu) {
  const std::string output = net->op(relu).output(0);
  OperatorDef& op = *net->mutable_op(conv);
  std::string name = output;
  if (Reads(op, output)) {
    const auto& kept = net->external_output();
    if (std::find(kept.begin(), kept.end(), output) != kept.end()) return false;
    const std::unordered_set<std::string> used = NamesUsedBy(*net);
    for (int i = 1; used.count(name) != 0; ++i) name = MakeString(output, "_relu", i);
    RenameReads(net, relu + 1, output, name);
  }
  op.set_type("ConvFusion");
  op.set_output(0, name);
  AddArgument<std::string>(kActivationArgument, "Relu", &op);
  net->mutable_op()->DeleteSubrange(relu, 1);
  return true;
}

// Whether an operator between the two uses the blob that the Relu writes: fusion would write it
// earlier.
bool IsUsedBetween(const NetDef& net, int conv, int relu) {
  const std::string& output = net.op(relu).output(0);
  for (int i = conv + 1; i < relu; ++i) {
    if (Reads(net.op(i), output) || Writes(net.op(i), output)) return true;
  }
  return false;
}

NetDef FuseNnpackConvRelu(NetDef net) {
  for (int i = 0; i < net.op_size(); ++i) {
    const OperatorDef& op = net.op(i);
    if (!IsCpuConv(op) || op.engine() != kNnpack) continue;
    const int relu = OnlyReader(net, i, op.output(0));
    if (relu < 0 || net.op(relu).type() != "Relu" || IsUsedBetween(net, i, relu)) continue;
    FuseRelu(&net, i, relu);
  }
  return net;
}

// --- Conv and SpatialBN, whose weights are in the workspace ---

// The blobs whose last value no operator reads, and the outputs that the net states.
std::set<std::string> Results(const NetDef& net) {
  std::set<std::string> results;
  for (const OperatorDef& op : net.op()) {
    for (const std::string& input : op.input()) results.erase(input);
    results.insert(op.output().begin(), op.output().end());
  }
  results.insert(net.external_output().begin(), net.external_output().end());
  return results;
}

NetDef FuseConvBatchNorm(NetDef net) {
  EnsureBuiltinOperators();
  Workspace* const ws = CurrentWorkspace().shared.get();
  std::set<std::string> reserved;
  for (const std::string& blob : ws->Blobs()) reserved.insert(blob);
  WorkspaceConstants constants(net, {}, reserved, ws);
  PassContext context{.constants = constants, .kept = Results(net)};
  context.input_shapes = constants.Shapes();
  context.has_operator = [](const std::string& type, DeviceType device) {
    return HasOperator(device, type);
  };
  for (const NetPassInfo& pass : NetPasses()) {
    if (std::string_view(pass.name) == "fold_batch_norm") net = pass.run(std::move(net), context);
  }
  for (const std::string& added : constants.Store(net)) {
    if (net.external_input_size() > 0) net.add_external_input(added);
  }
  return net;
}

// --- by name ---

using TransformFunction = NetDef (*)(NetDef net);

struct NamedTransform {
  const char* name;
  TransformFunction run;
};

// The names of two generations of the front end.
constexpr NamedTransform kTransforms[] = {{"ConvToNNPack", AddNnpack},
                                          {"AddNNPACK", AddNnpack},
                                          {"FuseNNPACKConvRelu", FuseNnpackConvRelu}};
constexpr NamedTransform kWorkspaceTransforms[] = {{"FuseConvBN", FuseConvBatchNorm}};

// A transform of the table, or a plain one that a program or module registered. Null if there is none.
template <size_t kSize>
NetTransform Find(const NamedTransform (&transforms)[kSize], std::string_view name) {
  for (const NamedTransform& transform : transforms) {
    if (name == transform.name) return transform.run;
  }
  if (static_cast<const NamedTransform*>(transforms) == kWorkspaceTransforms) return nullptr;
  const NetTransform* const registered = FindNetTransform(std::string(name));
  return registered == nullptr ? nullptr : *registered;
}

NetDef Transformed(const NetTransform& run, std::string_view name, const NetDef& net) {
  if (run == nullptr) {
    std::string registered;
    for (const std::string& other : NetTransformNames()) registered += ", " + other;
    CAFFE_THROW(
        "Transform \"", name,
        "\" is not known; there are ConvToNNPack, AddNNPACK, FuseNNPACKConvRelu, FuseConvBN",
        registered);
  }
  return run(net);
}

template <const auto& kTable>
nb::bytes RunNamed(const Text& name, const Text& net) {
  return Serialized(Transformed(Find(kTable, name.view), name.view, Parsed<NetDef>(net, "net")));
}

template <TransformFunction kRun>
nb::bytes RunOne(const Text& net) {
  return Serialized(kRun(Parsed<NetDef>(net, "net")));
}

double MillisecondsOf(const NetDef& net, const NetDef& init_net, int warmup, int runs) {
  Workspace ws(CurrentWorkspace().shared.get());
  CAFFE_ENFORCE(ws.RunNetOnce(init_net), "Error when running network ", init_net.name());
  const std::unique_ptr<NetBase> timed = CreateNet(net, &ws);
  CAFFE_ENFORCE(timed != nullptr, "net type \"", net.type(), "\" is not known");
  for (int i = 0; i < warmup; ++i) timed->Run();
  Timer timer;
  for (int i = 0; i < runs; ++i) timed->Run();
  return timer.MilliSeconds();
}

nb::bytes ApplyIfFaster(const Text& name, const Text& net_bytes, const Text& init_bytes, int warmup,
                        int runs, double threshold) {
  const NetDef net = Parsed<NetDef>(net_bytes, "net");
  const NetDef init_net = Parsed<NetDef>(init_bytes, "init net");
  const NetDef transformed = Transformed(Find(kTransforms, name.view), name.view, net);
  const bool is_faster = RunWithoutLock([&] {
    const double before = MillisecondsOf(net, init_net, warmup, runs);
    return before > threshold * MillisecondsOf(transformed, init_net, warmup, runs);
  });
  return Serialized(is_faster ? transformed : net);
}

// Fills the inputs of a net with random numbers: `dims` and `types` list them for each operator.
void FillRandomInputs(const Text& bytes, const std::vector<std::vector<std::vector<int64_t>>>& dims,
                      const std::vector<std::vector<Text>>& types) {
  const NetDef net = Parsed<NetDef>(bytes, "net");
  const FrontendWorkspace& ws = CurrentWorkspace();
  CAFFE_ENFORCE_EQ(dims.size(), static_cast<size_t>(net.op_size()),
                   "lists of dimensions of inputs");
  CAFFE_ENFORCE_EQ(types.size(), dims.size(), "lists of types of inputs");
  for (int i = 0; i < net.op_size(); ++i) {
    const auto op = static_cast<size_t>(i);
    const auto inputs = static_cast<size_t>(net.op(i).input_size());
    CAFFE_ENFORCE_EQ(dims[op].size(), inputs, "dimensions of inputs of operator ", i);
    CAFFE_ENFORCE_EQ(types[op].size(), inputs, "types of inputs of operator ", i);
    for (size_t input = 0; input < inputs; ++input) {
      const std::string& name = net.op(i).input(static_cast<int>(input));
      if (ws->HasBlob(name)) continue;
      const bool is_float = types[op][input].view == "float";
      CAFFE_ENFORCE(is_float || types[op][input].view == "int", "type of input \"", name,
                    "\": got \"", types[op][input].view, "\", want float or int");
      OperatorDef fill;
      fill.set_type(is_float ? "UniformFill" : "UniformIntFill");
      fill.add_output(name);
      AddArgument("shape", dims[op][input], &fill);
      if (!is_float) AddArgument<int64_t>("max", 100, &fill);
      CAFFE_ENFORCE(ws->RunOperatorOnce(fill), "cannot fill input \"", name, "\"");
    }
  }
}

}  // namespace

void BindFrontendTransforms(nb::module_& m) {
  m.def("fill_random_network_inputs", &FillRandomInputs);
  m.def("apply_transform", &RunNamed<kTransforms>);
  m.def("apply_transform_if_faster", &ApplyIfFaster);
  m.def("transform_exists",
        [](const Text& name) { return Find(kTransforms, name.view) != nullptr; });
  m.def("run_transform", &RunNamed<kTransforms>);
  m.def("workspace_transform_exists",
        [](const Text& name) { return Find(kWorkspaceTransforms, name.view) != nullptr; });
  m.def("run_workspace_transform", &RunNamed<kWorkspaceTransforms>);
  m.def("transform_addNNPACK", &RunOne<AddNnpack>);
  m.def("transform_fuseNNPACKConvRelu", &RunOne<FuseNnpackConvRelu>);
  m.def("transform_fuseConvBN", &RunOne<FuseConvBatchNorm>);
}

}  // namespace caffe2rt
