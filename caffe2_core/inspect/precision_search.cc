#include "caffe2_core/inspect/precision_search.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <type_traits>
#include <utility>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/net_check.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/graph/passes/conv_layouts.h"
#include "caffe2_core/runtime/workspace.h"
#include "caffe2_core/tensor/number_types.h"
#include "caffe2_core/tensor/tensor_difference.h"

namespace caffe2rt {
namespace {

// On how many of the examples outputs are compared.
constexpr size_t kMostCompared = 16;
constexpr char kLeastPrecision[] = "least_precision";

bool HasArgument(const OperatorDef& def, const char* name) {
  const OpSchema* const schema = OpSchemaRegistry::Schema(def.type());
  return schema != nullptr && std::any_of(schema->args().begin(), schema->args().end(),
                                          [&](const auto& arg) { return arg.name == name; });
}

void SetLeast(OperatorDef* op, Precision precision) {
  *GetMutableArgument(kLeastPrecision, true, op) =
      MakeArgument(kLeastPrecision, std::string(PrecisionName(precision)));
}

// What the operators of a prepared net are told.
void CountLayers(const NetDef& prepared, PrecisionMeasured* measured) {
  for (const OperatorDef& op : prepared.op()) {
    if (!HasArgument(op, "precision")) continue;
    ++measured->layers;
    const Argument* const precision = GetArgumentPtr(op, "precision");
    if (precision == nullptr) continue;
    measured->int8_layers += precision->s() == PrecisionName(Precision::kInt8);
    measured->bf16_layers += precision->s() == PrecisionName(Precision::kBfloat16);
  }
}

// The elements as floats; nothing if they are integers other than those of images.
std::optional<Tensor> AsFloats(const Tensor& tensor) {
  if (tensor.IsType<float>()) return Tensor(tensor, CPU);
  const Tensor numbers(tensor, CPU);
  std::optional<Tensor> floats;
  WithNumberType(numbers.meta(), [&]<class T>(std::type_identity<T>) {
    if constexpr (kHasNaN<T> || std::is_same_v<T, uint8_t>) {
      floats.emplace(numbers.dims(), CPU);
      const T* const from = numbers.data<T>();
      std::transform(from, from + numbers.numel(), floats->mutable_data<float>(),
                     [](T number) { return static_cast<float>(number); });
    }
  });
  return floats;
}

// Whether output 0 has the elements of input 0.
bool HasElementsOfInput(const OperatorDef& op) {
  const OperatorTraits& traits = TraitsOf(op.type());
  return traits.only_changes_shape ||
         (traits.passes_on != nullptr && traits.passes_on(op) != PassesOn::kNever);
}

// Whether results near the ends of the range hide how wrong the input is.
bool Saturates(const std::string& type) {
  static const std::set<std::string> types = {"GroupSpatialSoftmax", "HardSigmoid", "Sigmoid",
                                              "Softmax", "Tanh"};
  return types.contains(type);
}

// The blobs that operators read which saturate and whose results, perhaps reshaped or joined with others, are
// `output`; without those that something writes to later.
std::vector<std::string> LogitsOf(const NetDef& net, const std::string& output) {
  std::set<std::string> results = {output};
  std::set<std::string> written;  // by the operators behind the one that is looked at
  std::vector<std::string> logits;
  for (int i = net.op_size(); i-- > 0;) {
    const OperatorDef& op = net.op(i);
    const bool is_result =
        op.input_size() > 0 && op.output_size() > 0 && results.erase(op.output(0)) > 0;
    for (const std::string& name : op.output()) {
      results.erase(name);
      written.insert(name);
    }
    if (!is_result) continue;
    if (Saturates(op.type())) {
      if (!written.contains(op.input(0))) logits.push_back(op.input(0));
    } else if (op.type() == "Concat") {
      results.insert(op.input().begin(), op.input().end());
    } else if (HasElementsOfInput(op)) {
      results.insert(op.input(0));
    }
  }
  return logits;
}

}  // namespace

std::vector<int> OperatorsForInt8(const NetDef& net) {
  std::vector<int> positions;
  for (int i = 0; i < net.op_size(); ++i) {
    const OperatorDef& op = net.op(i);
    if (!HasArgument(op, kLeastPrecision)) continue;
    const bool needs_range = HasArgument(op, "input_min");
    if (!needs_range || GetArgumentPtr(op, "input_max") != nullptr) positions.push_back(i);
  }
  return positions;
}

PrecisionSearch::PrecisionSearch(PreparationOptions options, Workspace* ws,
                                 PrecisionExamples examples,
                                 std::function<void(int64_t done, int64_t total)> progress)
    : options_(std::move(options)),
      ws_(ws),
      examples_(std::move(examples)),
      progress_(std::move(progress)) {
  CAFFE_ENFORCE(ws != nullptr && examples_.feed != nullptr && examples_.count > 0,
                "PrecisionSearch wants a workspace and at least one example");
}

void PrecisionSearch::Begin(const NetDef& net) {
  exact_outputs_.clear();
  Run run = RunExamples(net, Precision::kFloat32, false);
  CAFFE_ENFORCE(!run.outputs[0].empty(), "net \"", net.name(),
                "\" has no output of floats or bytes by which precisions could be compared");
  exact_outputs_ = std::move(run.outputs);
  exact_ = run.measured;
  exact_.snr_db = HUGE_VAL;
}

PrecisionMeasured PrecisionSearch::Measure(const NetDef& net, Precision precision,
                                           bool deterministic) {
  const Run run = RunExamples(net, precision, deterministic);
  PrecisionMeasured measured = run.measured;
  measured.snr_db = SnrOf(run.outputs);
  return measured;
}

PrecisionSearch::Run PrecisionSearch::RunExamples(const NetDef& net, Precision precision,
                                                  bool deterministic) {
  PreparationOptions options = options_;
  options.precision = precision;
  options.deterministic = deterministic;
  options.free_constants = false;
  const std::vector<std::string> of_net = OutputsOf(net);
  std::set<std::string> names = options.kept;
  if (names.empty()) names.insert(of_net.begin(), of_net.end());
  std::set<std::string> compared = names;
  for (const std::string& name : names) {
    for (std::string& logits : LogitsOf(net, name)) compared.insert(std::move(logits));
  }
  options.kept = compared;
  examples_.feed(0);  // the shapes guide the preparation
  const Preparation prepared = PrepareNet(net, options, ws_);
  Run run;
  CountLayers(prepared.net, &run.measured);
  {
    PreparedNet runnable(prepared.net, options.kept, nullptr, ws_, "simple", options);
    const bool all = !examples_.labels.empty();
    const size_t count = all ? examples_.count : std::min(examples_.count, kMostCompared);
    for (size_t i = 0; i < count; ++i) {
      examples_.feed(i);
      runnable.Run();
      if (all) AddClasses(FloatsOf(names), &run.classes);
      if (i < kMostCompared) run.outputs.push_back(FloatsOf(compared));
    }
  }
  for (const std::string& name : prepared.new_constants) ws_->RemoveBlob(name);
  if (!examples_.labels.empty()) run.measured.accuracy = AccuracyOf(run.classes);
  return run;
}

PrecisionSearch::Outputs PrecisionSearch::FloatsOf(const std::set<std::string>& names) const {
  Outputs outputs;
  for (const std::string& name : names) {
    const Blob* const blob = ws_->FindBlob(name).get();
    if (blob == nullptr || !blob->IsType<Tensor>()) continue;
    const auto& tensor = blob->Get<Tensor>();
    if (!tensor.HasData()) continue;
    if (std::optional<Tensor> floats = AsFloats(tensor)) outputs[name] = *std::move(floats);
  }
  return outputs;
}

void PrecisionSearch::AddClasses(const Outputs& outputs, std::vector<int64_t>* classes) const {
  CAFFE_ENFORCE(!outputs.empty(), "labels are given for a net without outputs of floats");
  const auto& [name, tensor] = *outputs.begin();
  CAFFE_ENFORCE(tensor.dim() > 1 && tensor.dim(0) > 0 && tensor.numel() > 0, "output \"", name,
                "\" has shape ", tensor.sizes(), ", want a row of numbers for each label");
  const int64_t columns = tensor.numel() / tensor.dim(0);
  for (int64_t row = 0; row < tensor.dim(0); ++row) {
    const float* const numbers = tensor.data<float>() + row * columns;
    classes->push_back(std::max_element(numbers, numbers + columns) - numbers);
    if (classes->size() > examples_.labels.size()) continue;
    const int64_t label = examples_.labels[classes->size() - 1];
    CAFFE_ENFORCE(label >= 0 && label < columns, "label ", classes->size(), " is ", label,
                  ", want a class below ", columns, ", the columns of output \"", name, "\"");
  }
}

double PrecisionSearch::AccuracyOf(const std::vector<int64_t>& classes) const {
  CAFFE_ENFORCE_EQ(examples_.labels.size(), classes.size(),
                   "labels, of which the examples need one for each row of the output");
  int64_t right = 0;
  for (size_t i = 0; i < classes.size(); ++i) right += classes[i] == examples_.labels[i];
  return 100.0 * static_cast<double>(right) / static_cast<double>(classes.size());
}

double PrecisionSearch::SnrOf(const std::vector<Outputs>& outputs) const {
  struct Sums {
    double signal = 0, noise = 0;
  };
  std::map<std::string, Sums> sums;
  for (size_t i = 0; i < outputs.size(); ++i) {
    for (const auto& [name, exact] : exact_outputs_[i]) {
      const auto found = outputs[i].find(name);
      const bool comparable = found != outputs[i].end() && found->second.sizes() == exact.sizes();
      TensorDifference difference = CompareTensors(comparable ? found->second : exact, exact, {});
      if (!comparable) difference.noise = difference.signal;
      sums[name].signal += difference.signal;
      sums[name].noise += difference.noise;
    }
  }
  double worst = HUGE_VAL;
  for (const auto& [name, sum] : sums) {
    if (std::isnan(sum.noise) || std::isnan(sum.signal)) return -HUGE_VAL;
    if (sum.noise > 0) worst = std::min(worst, 10 * std::log10(sum.signal / sum.noise));
  }
  return worst;
}

bool PrecisionSearch::Reaches(const PrecisionMeasured& measured, const PrecisionGoal& goal) const {
  if (goal.min_snr_db && measured.snr_db < *goal.min_snr_db) return false;
  return !goal.max_drop || !measured.accuracy ||
         *measured.accuracy >= *exact_.accuracy - *goal.max_drop - 1e-9;
}

void PrecisionSearch::MeasureAlone(const NetDef& net, PrecisionFound* found) {
  const std::vector<int> positions = OperatorsForInt8(net);
  const auto total = static_cast<int64_t>(positions.size());
  int64_t done = 0;
  for (const int position : positions) {
    NetDef alone = net;
    for (const int other : positions) {
      if (other != position) SetLeast(alone.mutable_op(other), Precision::kFloat32);
    }
    found->alone_snr_db[position] = SnrOf(RunExamples(alone, Precision::kInt8, false).outputs);
    Report(++done, total);
  }
}

PrecisionFound PrecisionSearch::Find(NetDef* net, const PrecisionGoal& goal) {
  PrecisionFound found;
  found.measured = Measure(*net, Precision::kInt8);
  MeasureAlone(*net, &found);
  std::vector<std::pair<double, int>> worst;
  for (const auto& [position, snr] : found.alone_snr_db) worst.emplace_back(snr, position);
  std::sort(worst.begin(), worst.end());
  if (Reaches(found.measured, goal)) return found;
  int64_t trials = 0;
  const NetDef written = *net;
  for (const Precision least : {Precision::kFloat32, Precision::kBfloat16}) {
    if (least == Precision::kBfloat16 && !WhyNoBf16Convs().empty()) continue;
    const auto with = [&](size_t count) {
      NetDef changed = written;
      for (size_t i = 0; i < count; ++i) SetLeast(changed.mutable_op(worst[i].second), least);
      return changed;
    };
    // The fewest that reach the goal are more than `low` and at most `high`; all, if none do.
    size_t low = 0, high = worst.size();
    PrecisionMeasured at_high = Measure(with(high), Precision::kInt8);
    if (least == Precision::kBfloat16 && !Reaches(at_high, goal)) continue;
    while (low + 1 < high) {
      const size_t middle = (low + high) / 2;
      const PrecisionMeasured measured = Measure(with(middle), Precision::kInt8);
      Report(++trials, 0);
      const bool reached = Reaches(measured, goal);
      (reached ? high : low) = middle;
      if (reached) at_high = measured;
    }
    if (least == Precision::kBfloat16 && high > found.put_back.size()) continue;
    found.put_back.clear();
    for (size_t i = 0; i < high; ++i) found.put_back[worst[i].second] = least;
    *net = with(high);
    found.measured = at_high;
  }
  return found;
}

void StateSnr(NetDef* net, std::optional<double> int8_db, std::optional<double> pair_limited_db,
              std::optional<double> bf16_db) {
  constexpr double kMost = 200;  // of outputs that do not differ
  const auto state = [&](const char* name, std::optional<double> db) {
    auto* const args = net->mutable_arg();
    for (int i = args->size(); i-- > 0;) {
      if (args->Get(i).name() == name) args->DeleteSubrange(i, 1);
    }
    if (db) *net->add_arg() = MakeArgument(name, static_cast<float>(std::min(*db, kMost)));
  };
  state(kInt8SnrArgument, int8_db);
  state(kPairLimitedSnrArgument, pair_limited_db);
  state(kBf16SnrArgument, bf16_db);
}

}  // namespace caffe2rt
