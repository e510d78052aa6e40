#include "caffe2_core/model/preparation.h"

#include <algorithm>
#include <utility>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/logging.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/base/thread_pool.h"
#include "caffe2_core/base/work_scope.h"
#include "caffe2_core/executors/net_types.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/graph/passes/conv_layouts.h"
#include "caffe2_core/graph/passes/matmul_precisions.h"
#include "caffe2_core/model/net_memory.h"
#include "caffe2_core/model/optimizer.h"
#include "caffe2_core/model/plan_ahead.h"
#include "caffe2_core/runtime/workspace.h"
#include "caffe2_core/tensor/data_type.h"

namespace caffe2rt {
namespace {

void AddShapesInWorkspace(const std::set<std::string>& names, const Workspace& ws,
                          ShapeMap* shapes) {
  for (const std::string& name : names) {
    const std::shared_ptr<Blob> blob = ws.FindBlob(name);
    if (blob == nullptr || !blob->IsType<Tensor>()) continue;
    const Tensor& tensor = blob->Get<Tensor>();
    if (!tensor.IsShaped()) continue;
    shapes->try_emplace(name, CreateTensorShape(tensor.dims(), TypeMetaToDataType(tensor.meta())));
  }
}

// Sets an argument of an operator that has such an argument and is not given it.
void Tell(const Argument& argument, OperatorDef* op) {
  const OpSchema* const schema = OpSchemaRegistry::Schema(op->type());
  if (schema == nullptr || GetArgumentPtr(*op, argument.name()) != nullptr) return;
  const bool has_argument =
      std::any_of(schema->args().begin(), schema->args().end(),
                  [&](const OpSchema::Argument& a) { return a.name == argument.name(); });
  if (has_argument) *op->add_arg() = argument;
}

// Tells the operators of the net, and of nets in their arguments, what they may choose.
void TellOperators(const std::vector<Argument>& arguments, NetDef* net, int depth = 0) {
  if (depth > kMaxNetDepth || arguments.empty()) return;
  for (OperatorDef& op : *net->mutable_op()) {
    for (const Argument& argument : arguments) Tell(argument, &op);
    ForEachNetIn(&op, [&](NetDef* nested) { TellOperators(arguments, nested, depth + 1); });
  }
}

std::vector<Argument> WhatOperatorsMayChoose(const PreparationOptions& options) {
  std::vector<Argument> arguments;
  if (options.deterministic) arguments.push_back(MakeArgument("deterministic", 1));
  if (options.winograd_filter_bytes != INT64_MAX) {
    arguments.push_back(MakeArgument("winograd_filter_bytes", options.winograd_filter_bytes));
  }
  return arguments;
}

bool StatesRanges(const NetDef& net) {
  return std::any_of(net.op().begin(), net.op().end(), [](const OperatorDef& def) {
    return GetArgumentPtr(def, "input_max") != nullptr;
  });
}

bool HasFamily(const NetDef& net, OperatorFamily family) {
  return std::any_of(net.op().begin(), net.op().end(),
                     [&](const OperatorDef& def) { return TraitsOf(def.type()).family == family; });
}

// Whether a graph pass places convolutions where they may be computed in another precision.
bool PlacesConvs(const PreparationOptions& options) {
  return options.optimize && !options.without_passes.contains("onednn_regions");
}

// Whether fully connected layers may be computed in the precision that is asked for.
bool ReducesFCs(const NetDef& net, const PreparationOptions& options) {
  return options.optimize && !options.without_passes.contains("matmul_precisions") &&
         HasFamily(net, OperatorFamily::kMatMul) && WhyNoProductsIn(options.precision).empty();
}

// In which precision convolutions are computed that cannot have the one that is asked for.
Precision ConvPrecisionInstead(const PreparationOptions& options) {
  const bool rounds = options.precision == Precision::kInt8 && PlacesConvs(options) &&
                      !options.deterministic && WhyNoBf16Convs().empty();
  return rounds ? Precision::kBfloat16 : Precision::kFloat32;
}

// The precision for this machine. Logs one line if it is not the one that was asked for.
Precision AvailablePrecision(const NetDef& net, const PreparationOptions& options) {
  const std::string reason = WhyFloat32(net, options);
  if (reason.empty()) {
    const Precision chosen = ChosenPrecision(net, options);
    if (const std::string other = OtherConvPrecision(net, options); !other.empty()) {
      LOG(WARNING) << "precision " << PrecisionName(chosen) << ": " << other;
    }
    return chosen;
  }
  LOG(WARNING) << "precision " << PrecisionName(options.precision)
               << ": all operators compute in f32, because " << reason;
  return Precision::kFloat32;
}

// Whether results must be the same bytes on all machines.
bool ForAnyMachine(const PreparationOptions& options) {
  return options.deterministic && options.precision >= Precision::kInt8;
}

void CheckSettings(const PreparationOptions& options) {
  const int threads = GetNumThreads();
  CAFFE_ENFORCE(options.threads >= 0 && options.threads <= threads,
                "option threads of the preparation of a net is ", options.threads, ", want 0 to ",
                threads, ", the threads of the process: SetNumThreads changes them");
  CAFFE_ENFORCE(!options.isa.has_value() || *options.isa == CpuIsa(),
                "option isa of the preparation of a net is ",
                IsaName(options.isa.value_or(CpuIsa())), ", want ", IsaName(CpuIsa()),
                ", that of the process: all nets of a process use one, which the environment "
                "variables CAFFE2RT_ISA and ONEDNN_MAX_CPU_ISA lower before the process starts");
}

}  // namespace

namespace {

std::optional<float> StatedSnr(const NetDef& net, const char* name) {
  const Argument* const argument = GetArgumentPtr(net, name);
  return argument == nullptr ? std::nullopt : std::optional(argument->f());
}

// The ratio that the net states for int8 as this machine computes it. That of pair-limited filters is a
// lower bound.
std::optional<float> Int8SnrOf(const NetDef& net, bool deterministic) {
  const std::optional<float> limited = StatedSnr(net, kPairLimitedSnrArgument);
  if (deterministic || !MultipliesWholeBytes()) return limited;
  const std::optional<float> whole = StatedSnr(net, kInt8SnrArgument);
  return whole ? whole : limited;
}

bool Suffices(std::optional<float> snr, const PreparationOptions& options) {
  return snr.has_value() && *snr >= options.min_snr_db;
}

std::string WhyNotAuto(const NetDef& net, const PreparationOptions& options) {
  const auto int8 = Int8SnrOf(net, options.deterministic), bf16 = StatedSnr(net, kBf16SnrArgument);
  if (!int8 && !bf16) {
    return "the net does not state what lower precisions cost; caffe2 quantize measures it";
  }
  if (Suffices(int8, options) || Suffices(bf16, options)) {
    return "the machine does not have the precision that the net states to suffice";
  }
  const auto text = [](std::optional<float> db) { return db ? MakeString(*db) : "no"; };
  return MakeString("of the wanted ", options.min_snr_db, " dB of signal to noise, int8 has ",
                    text(int8), " and bf16 ", text(bf16));
}

}  // namespace

Precision ChosenPrecision(const NetDef& net, const PreparationOptions& options) {
  if (options.precision != Precision::kAuto) return options.precision;
  const bool int8 = WhyNoInt8Convs().empty() && StatesRanges(net);
  if (int8 && Suffices(Int8SnrOf(net, options.deterministic), options)) return Precision::kInt8;
  // The bytes of bf16 depend on the machine.
  const bool bf16 = WhyNoBf16Convs().empty() && !options.deterministic &&
                    Suffices(StatedSnr(net, kBf16SnrArgument), options);
  return bf16 ? Precision::kBfloat16 : Precision::kFloat32;
}

std::string WhyFloat32(const NetDef& net, const PreparationOptions& options) {
  if (options.precision == Precision::kAuto) {
    PreparationOptions chosen = options;
    chosen.precision = ChosenPrecision(net, options);
    return chosen.precision == Precision::kFloat32 ? WhyNotAuto(net, options)
                                                   : WhyFloat32(net, chosen);
  }
  if (options.precision == Precision::kFloat32 || ReducesFCs(net, options)) return "";
  return WhyConvsFloat32(net, options);
}

std::string OtherConvPrecision(const NetDef& net, const PreparationOptions& options) {
  PreparationOptions chosen = options;
  chosen.precision = ChosenPrecision(net, options);
  if (!HasFamily(net, OperatorFamily::kConv) || !WhyFloat32(net, options).empty()) return "";
  const std::string reason = WhyConvsFloat32(net, chosen);
  if (reason.empty()) return "";
  return MakeString("convolutions are computed in ", PrecisionName(ConvPrecisionInstead(chosen)),
                    ", because ", reason);
}

std::string WhyConvsFloat32(const NetDef& net, const PreparationOptions& options) {
  if (options.precision == Precision::kFloat32) return "";
  if (!PlacesConvs(options)) {
    return "the graph pass onednn_regions, which places bf16 convolutions, is not applied";
  }
  if (options.precision != Precision::kInt8) return WhyNoBf16Convs();
  if (std::string reason = WhyNoInt8Convs(); !reason.empty()) return reason;
  return StatesRanges(net) ? ""
                           : "the net states no ranges of inputs; caffe2 quantize measures them";
}

Preparation PrepareNet(NetDef net, const PreparationOptions& options, Workspace* ws) {
  CAFFE_ENFORCE(ws != nullptr,
                "argument ws of PrepareNet is null, want the workspace with the weights");
  CheckSettings(options);
  const WorkScope scope({.threads = options.threads,
                         .conv_tuning = options.tuning.get(),
                         .any_machine = ForAnyMachine(options)});
  PreparationOptions all = options;
  AddShapesInWorkspace(options.inputs, *ws, &all.input_shapes);
  if (PrefersPlainConvLayouts()) all.without_passes.insert("onednn_regions");
  all.precision = AvailablePrecision(net, all);
  Preparation preparation = OptimizeNet(std::move(net), all, ws);
  TellOperators(WhatOperatorsMayChoose(options), &preparation.net);
  // Those with which a packed net was prepared.
  for (auto& [name, shape] : preparation.options.input_shapes)
    all.input_shapes.try_emplace(name, std::move(shape));
  preparation.options = std::move(all);
  return preparation;
}

PreparedNet::PreparedNet(std::shared_ptr<const NetDef> def, std::set<std::string> kept,
                         std::shared_ptr<ArenaStock> arenas, Workspace* ws,
                         const std::string& executor, const PreparationOptions& options)
    : threads_(options.threads), tuning_(options.tuning), any_machine_(ForAnyMachine(options)) {
  CAFFE_ENFORCE(def != nullptr && ws != nullptr, "an argument of PreparedNet is null");
  const WorkScope scope(
      {.threads = threads_, .conv_tuning = tuning_.get(), .any_machine = any_machine_});
  net_ = ws->CreateNet(WithExecutor(def, executor), true);
  CAFFE_ENFORCE(net_ != nullptr, "net \"", def->name(), "\" has type \"", def->type(),
                "\", which is not known");
  memory_ = std::make_unique<NetMemory>(net_, std::move(kept), std::move(arenas));
}

PreparedNet::~PreparedNet() = default;
PreparedNet::PreparedNet(PreparedNet&&) noexcept = default;
PreparedNet& PreparedNet::operator=(PreparedNet&&) noexcept = default;

void PreparedNet::Run() {
  const WorkScope scope(
      {.threads = threads_, .conv_tuning = tuning_.get(), .any_machine = any_machine_});
  CAFFE_ENFORCE(memory_->Run(), "net \"", net_->Name(), "\" failed");
}

std::vector<size_t> PreparedNet::PlanAhead(const Preparation& preparation) {
  const WorkScope scope(
      {.threads = threads_, .conv_tuning = tuning_.get(), .any_machine = any_machine_});
  AheadResult result = caffe2rt::PlanAhead(
      *net_, preparation.options.inputs, preparation.options.input_shapes, [this] { Run(); },
      memory_.get());
  small_ = result.small;
  return std::move(result.left_out);
}

NetBase* Workspace::CreateNet(const NetDef& def, const PreparationOptions& options,
                              bool overwrite) {
  CAFFE_ENFORCE(
      options.threads == 0 && options.tuning == nullptr,
      "options threads and tuning are settings of the runs of a PreparedNet or Predictor; "
      "Workspace::CreateNet does not support them: PrepareNet and PreparedNet do");
  return CreateNet(std::make_shared<const NetDef>(PrepareNet(def, options, this).net), overwrite);
}

}  // namespace caffe2rt
