#include "tests/oracle/original_faults.h"

#include <algorithm>
#include <functional>
#include <set>

#include "caffe2_core/graph/arguments.h"

namespace caffe2rt::test {
namespace {

// The recorded value of input i. An empty proto if it is not a tensor.
TensorProto RecordedInput(const oracle::OperatorCase& recorded, const OperatorDef& def, int i) {
  TensorProto tensor;
  if (i >= def.input_size()) return tensor;
  for (const oracle::Blob& blob : recorded.input()) {
    if (blob.name() == def.input(i)) tensor.ParseFromString(blob.tensor());
  }
  return tensor;
}

// The gradient of a three-dimensional convolution in NHWC places the planes of dX as far apart as
// if the first of their axes had the size of the axis before them.
bool MixesUpAxes(const oracle::OperatorCase& recorded, const OperatorDef& def) {
  if (def.type() != "ConvGradient" && def.type() != "Conv3DGradient") return false;
  const ArgumentHelper arguments(def);
  const TensorProto x = RecordedInput(recorded, def, 0);
  return arguments.GetSingleArgument<std::string>("order", "NCHW") == "NHWC" &&
         x.dims_size() == 5 && x.dims(1) != x.dims(2);
}

// Positions of 0 and below have no logarithm.
bool EncodesNoLogarithm(const oracle::OperatorCase& recorded, const OperatorDef& def) {
  if (def.type() != "SinusoidPositionEncoding") return false;
  const TensorProto x = RecordedInput(recorded, def, 0);
  return std::any_of(x.int64_data().begin(), x.int64_data().end(), [](auto n) { return n <= 0; }) ||
         std::any_of(x.int32_data().begin(), x.int32_data().end(), [](auto n) { return n <= 0; });
}

// The gradient of Slice multiplies offsets in dX by the size of the elements of X, not of dY.
bool MixesUpTypes(const oracle::OperatorCase& recorded, const OperatorDef& def) {
  if (def.type() != "SliceGradient") return false;
  const TensorProto x = RecordedInput(recorded, def, 0);
  const TensorProto dy = RecordedInput(recorded, def, def.input_size() - 1);
  return x.data_type() == TensorProto::INT64 && dy.data_type() == TensorProto::FLOAT;
}

// Whether an index of a permutation is negative, not below the number of rows, or there twice.
bool IsNoPermutation(const oracle::OperatorCase& recorded, const OperatorDef& def) {
  const bool is_gradient = def.type() == "BatchPermutationGradient";
  if (!is_gradient && def.type() != "BatchPermutation") return false;
  const TensorProto indices = RecordedInput(recorded, def, is_gradient ? 0 : 1);
  const TensorProto data = RecordedInput(recorded, def, is_gradient ? 1 : 0);
  const int64_t rows = data.dims_size() > 0 ? data.dims(0) : 0;
  std::set<int32_t> seen;
  for (const int32_t index : indices.int32_data()) {
    if (index < 0 || index >= rows) return true;
    if (is_gradient && static_cast<int64_t>(seen.size()) < rows && !seen.insert(index).second) {
      return true;
    }
  }
  return false;
}

// The gradient of BooleanMask has only the first dimension, and reads as many elements of dY.
bool LosesDimensions(const oracle::OperatorCase& recorded, const OperatorDef& def) {
  return def.type() == "BooleanMaskGradient" && RecordedInput(recorded, def, 1).dims_size() > 1;
}

// Whether SegmentOneHot writes behind its output, for an index that is not below the size.
bool WritesBehindOutput(const oracle::OperatorCase& recorded, const OperatorDef& def) {
  if (def.type() != "SegmentOneHot") return false;
  const TensorProto indices = RecordedInput(recorded, def, 1);
  const TensorProto size = RecordedInput(recorded, def, 2);
  const auto is_outside = [&](int64_t index) { return index < 0 || index >= size.int64_data(0); };
  return size.int64_data_size() == 1 &&
         std::any_of(indices.int64_data().begin(), indices.int64_data().end(), is_outside);
}

// Whether the operator is the gradient of one that cuts segments off at max_length.
bool CutsSegments(const oracle::OperatorCase& recorded, const OperatorDef& def) {
  if (def.type() != "UnpackSegments" && def.type() != "PackSegments") return false;
  const int most = ArgumentHelper(def).GetSingleArgument<int>("max_length", -1);
  const TensorProto lengths = RecordedInput(recorded, def, 0);
  const auto is_cut = [most](int64_t length) { return length > most; };
  return def.is_gradient_op() && most >= 0 &&
         (std::any_of(lengths.int32_data().begin(), lengths.int32_data().end(), is_cut) ||
          std::any_of(lengths.int64_data().begin(), lengths.int64_data().end(), is_cut));
}

using OpTest = std::function<bool(const OperatorDef&)>;

// Whether the test is true for an operator of the net or of the nets in it.
bool AnyOperator(const NetDef& net, const OpTest& test, int depth = 0) {
  constexpr int kMaxNesting = 32;
  if (depth > kMaxNesting) return false;
  for (const OperatorDef& op : net.op()) {
    if (test(op)) return true;
    for (const Argument& arg : op.arg()) {
      if (arg.has_n() && AnyOperator(arg.n(), test, depth + 1)) return true;
    }
  }
  return false;
}

// Whether the operator overwrites an input that its gradient reads. The original reads the output
// instead, or makes gradient operators that it rejects when they run.
bool OverwritesWhatItsGradientReads(const OperatorDef& op) {
  static const std::set<std::string> types = {"InstanceNorm", "Log", "Logit",     "Max",
                                              "Min",          "Mul", "PRelu",     "Pow",
                                              "Softsign",     "Sqr", "SpatialBN", "WeightedSum"};
  if (!types.contains(op.type())) return false;
  return std::any_of(op.input().begin(), op.input().end(),
                     [&](const std::string& input) { return HasOutput(op, input); }) &&
         (op.type() != "SpatialBN" || op.output(0) == op.input(0));
}

// Whether the operator is a Do that updates a tensor, and not only its scope.
bool UpdatesBlob(const OperatorDef& op) {
  if (op.type() != "Do") return false;
  for (int i = 0; i + 1 < op.input_size(); ++i) {
    if (HasOutput(op, op.input(i))) return true;
  }
  return false;
}

// The blobs that a net writes, without those that its operator lists.
std::set<std::string> LocalBlobs(const OperatorDef& op, const NetDef& net) {
  std::set<std::string> local;
  for (const OperatorDef& inner : net.op()) {
    for (const std::string& name : inner.output()) {
      if (!HasOutput(op, name) && !HasInput(op, name)) local.insert(name);
    }
  }
  return local;
}

bool Reads(const NetDef& net, const std::string& blob) {
  return std::any_of(net.op().begin(), net.op().end(),
                     [&](const OperatorDef& op) { return HasInput(op, blob); });
}

// Whether the operator is an If, one of whose nets passes a value of its own on between operators.
bool HasLocalValue(const OperatorDef& op) {
  if (op.type() != "If") return false;
  for (const Argument& arg : op.arg()) {
    for (const std::string& name : LocalBlobs(op, arg.n())) {
      if (Reads(arg.n(), name)) return true;
    }
  }
  return false;
}

// Whether the operator is an If with two nets, one of which adds up blobs: Sum gives all of them
// the gradient of its output under the same name.
bool SharesGradient(const OperatorDef& op) {
  int nets = 0;
  bool sums = false;
  for (const Argument& arg : op.arg()) {
    nets += arg.has_n() ? 1 : 0;
    for (const OperatorDef& inner : arg.n().op()) sums = sums || inner.type() == "Sum";
  }
  return op.type() == "If" && nets == 2 && sums;
}

// Whether an output of the operator depends on the blob if the net runs.
bool DependsOn(const OperatorDef& op, const NetDef& net, const std::string& blob) {
  std::set<std::string> needed(op.output().begin(), op.output().end());
  for (auto inner = net.op().rbegin(); inner != net.op().rend(); ++inner) {
    const bool needs = std::any_of(inner->output().begin(), inner->output().end(),
                                   [&](const std::string& name) { return needed.contains(name); });
    if (needs) needed.insert(inner->input().begin(), inner->input().end());
  }
  return needed.contains(blob);
}

std::string RecordedGradient(const oracle::NetGradientCase& recorded, const std::string& blob) {
  for (const oracle::GradientEntry& entry : recorded.gradient()) {
    if (entry.blob() == blob) return entry.gradient().dense();
  }
  return "";
}

// Whether the operator is an If that returns the gradient of its output as that of an input which
// one of its nets does not use.
bool IgnoresBranch(const oracle::NetGradientCase& recorded, const OperatorDef& op) {
  if (op.type() != "If" || op.input_size() < 2) return false;
  for (const std::string& output : op.output()) {
    const std::string given = RecordedGradient(recorded, output);
    for (int i = 1; i < op.input_size(); ++i) {
      const std::string& input = op.input(i);
      if (given.empty() || input == output || RecordedGradient(recorded, input) != given) continue;
      for (const Argument& arg : op.arg()) {
        if (arg.has_n() && !DependsOn(op, arg.n(), input)) return true;
      }
    }
  }
  return false;
}

// Why the original rejected a backward pass that exists, or "".
std::string FaultOfRejection(const std::string& error, const NetDef& net) {
  if (error.starts_with("Reusage of outer blob name") && AnyOperator(net, UpdatesBlob)) {
    return "a Do updates a blob, as in a loop that carries a value: the original gives the "
           "gradients "
           "of both values one name, and then rejects that name";
  }
  if (error.find("not in the scope of operator") != std::string::npos &&
      AnyOperator(net, HasLocalValue)) {
    return "a net of If has a value of its own: the original does not find it, although both "
           "passes "
           "use the same workspace";
  }
  if (error == "exceptions must derive from BaseException" && AnyOperator(net, SharesGradient)) {
    return "the nets of If name the gradient of a blob differently, because Sum passes its own on: "
           "the original wants to report this and fails while doing so";
  }
  return "";
}

}  // namespace

std::string FaultOfGradient(const OperatorDef& def) {
  if (!OverwritesWhatItsGradientReads(def)) return "";
  return "the operator overwrites an input that its gradient reads: the original reads the output "
         "instead, or makes gradient operators that it rejects when they run";
}

std::string FaultOfRecord(const oracle::NetGradientCase& recorded, const NetDef& net) {
  if (recorded.throws()) return FaultOfRejection(recorded.error(), net);
  if (AnyOperator(net, OverwritesWhatItsGradientReads)) {
    return "an operator overwrites an input that its gradient reads: the original reads the output "
           "instead";
  }
  const auto ignores = [&](const OperatorDef& op) { return IgnoresBranch(recorded, op); };
  if (AnyOperator(net, ignores)) {
    return "one net of If passes the gradient of its output on to a blob that the other net does "
           "not "
           "read: the original returns that gradient whichever net has run, instead of 0";
  }
  return "";
}

bool RemoveFillsOfOtherBranch(const NetDef& net, NetDef* after) {
  std::set<std::string> local;
  for (const OperatorDef& op : net.op()) {
    if (op.type() != "If") continue;
    for (const Argument& arg : op.arg()) {
      for (const std::string& name : LocalBlobs(op, arg.n())) local.insert(name);
    }
  }
  bool any = false;
  for (OperatorDef& op : *after->mutable_op()) {
    if (op.type() != "If" || !op.is_gradient_op()) continue;
    for (Argument& arg : *op.mutable_arg()) {
      if (!arg.has_n()) continue;
      auto* const ops = arg.mutable_n()->mutable_op();
      const auto useless = std::remove_if(ops->begin(), ops->end(), [&](const OperatorDef& inner) {
        return inner.type() == "ConstantFill" && inner.input_size() == 1 &&
               local.contains(inner.input(0));
      });
      any = any || useless != ops->end();
      ops->erase(useless, ops->end());
    }
  }
  return any;
}

bool ScaleBeforeSqr(const OperatorDefs& want, OperatorDefs* got) {
  bool any = false;
  for (int i = 0; i + 1 < std::min(want.size(), got->size()); ++i) {
    const bool scales = want[i].type() == "Scale" && want[i + 1].type() == "Mul" &&
                        want[i].output(0) == want[i].input(0);
    if (!scales || (*got)[i].type() != "Mul" || (*got)[i + 1].type() != "Scale") continue;
    any = true;
    OperatorDef &scale = (*got)[i], &product = (*got)[i + 1];
    std::swap(scale, product);
    product.set_output(0, scale.output(0));
    scale.set_input(0, product.input(0));
    scale.set_output(0, product.input(0));
  }
  return any;
}

std::string FaultOfRecord(const oracle::OperatorCase& recorded, const OperatorDef& def) {
  if (def.type() == "MulGradient" && def.input_size() > 0 && HasOutput(def, def.input(0))) {
    return "an output is dY: the original overwrites dY before it has read it, or sets both "
           "outputs "
           "to 0 first";
  }
  if (def.type() == "SpatialBNGradient" &&
      ArgumentHelper(def).GetSingleArgument<bool>("is_test", false)) {
    return "is_test: the original uses the variance as 1 / sqrt(variance + epsilon), and the "
           "formula "
           "of training, in which mean and variance depend on X";
  }
  if (def.type() == "IntegralImageGradient") {
    return "the original adds up the gradients of pixels above and to the left; those of the sums "
           "that contain the pixel are below and to the right";
  }
  if (EncodesNoLogarithm(recorded, def)) {
    return "a position is not above 0: the original takes its logarithm, so that the row is NaN";
  }
  if (MixesUpAxes(recorded, def)) {
    return "order NHWC with three axes, of which the first two differ: the original places the "
           "planes of dX at wrong distances, so that planes overlap or pixels stay 0; with a "
           "kernel "
           "of one pixel dX must be dY times the filter";
  }
  if (MixesUpTypes(recorded, def)) {
    return "X is int64 and dY float: the original multiplies offsets in the float output by the "
           "size of X's elements, so that it writes dY to wrong places and beyond the output";
  }
  if (LosesDimensions(recorded, def)) {
    return "dY has several dimensions: the original's gradient has only the first, with one "
           "element of each row";
  }
  if (WritesBehindOutput(recorded, def)) {
    return "an index is not below the size: the original writes it behind its row or the output";
  }
  if (CutsSegments(recorded, def)) {
    return "segments are cut off at max_length: the original's gradient of PackSegments lacks the "
           "rows that were cut off, and that of UnpackSegments wants rows that it did not return";
  }
  if (IsNoPermutation(recorded, def)) {
    return "the indices are no permutation: the original reads or writes rows beyond the tensor; "
           "or its gradient keeps one of the gradients of an index that is there twice, and leaves "
           "rows that no index names undefined";
  }
  return "";
}

}  // namespace caffe2rt::test
