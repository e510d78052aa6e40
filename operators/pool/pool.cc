#include "operators/pool/pool.h"

#include <utility>

#include "caffe2_core/base/checked_math.h"
#include "operators/common/inference.h"

namespace caffe2rt {

namespace {

// Accepted for compatibility; ignored.
constexpr ArgumentSpec<int> kPoolCeilMode{"ceil_mode", 0, "has no effect; use legacy_pad"};

OpSchema::Cost InferCost(const OperatorDef& def, const std::vector<TensorShape>& in) {
  OpSchema::Cost cost;
  if (!AreKnown(in, 1)) return cost;
  const WindowArguments window = ParseWindowArguments(ArgumentHelper(def), WindowUse::kPool);
  const WindowGeometry geometry = MakeWindowGeometry(window, GetDimsVector(in[0]));
  const uint64_t outputs = static_cast<uint64_t>(
      CheckedMultiply(CheckedMultiply(geometry.batch, geometry.channels), geometry.out_size()));
  cost.flops = CheckedMultiply(outputs, static_cast<uint64_t>(geometry.kernel_size()));
  cost.bytes_read = NumElements(in[0]) * sizeof(float);
  cost.bytes_written = outputs * sizeof(float);
  cost.bytes_moved = cost.bytes_read + cost.bytes_written;
  return cost;
}

// A gradient reads X and two tensors of the size of Y, and writes one of the size of X.
OpSchema::Cost InferGradientCost(const OperatorDef& def, const std::vector<TensorShape>& in) {
  OpSchema::Cost cost = InferCost(def, in);
  std::swap(cost.bytes_read, cost.bytes_written);
  cost.bytes_read = CheckedAdd(CheckedMultiply<uint64_t>(cost.bytes_read, 2), cost.bytes_written);
  cost.bytes_moved = CheckedAdd(cost.bytes_read, cost.bytes_written);
  return cost;
}

}  // namespace

void CheckPoolGradientShape(int i, const char* name, const Tensor& input,
                            const std::vector<int64_t>& want) {
  CAFFE_ENFORCE(input.dims() == want, "input ", i, " (", name, ") has shape ", input.sizes(),
                ", want ", IntArrayRef(want), ": one value for each window of input 0 (X)");
}

OpSchema& RegisterPoolSchema(const std::string& type, const char* file, const std::string& doc,
                             const ArgumentSpec<float>& power) {
  OpSchema& schema =
      RegisterSchema(type, file)
          .NumInputs(1)
          .NumOutputs(1)
          .Args(power, kPoolCeilMode)
          .Input(0, "X", "[N, C, *] or [N, *, C], with 1 to 3 axes")
          .Output(0, "Y", "[N, C, windows..] or [N, windows.., C], one value for each window")
          .FloatInputs(1)
          .TensorInferenceFunction(InferPoolShape)
          .CostInferenceFunction(InferCost)
          .SetDoc(doc);
  DeclareWindowArguments(schema, WindowUse::kPool);
  return schema;
}

OpSchema& RegisterPoolGradientSchema(const std::string& type, const char* file,
                                     const std::string& doc, const ArgumentSpec<float>& power) {
  OpSchema& schema = RegisterSchema(type + "Gradient", file)
                         .NumInputs(3)
                         .NumOutputs(1)
                         .Args(power, kPoolCeilMode)
                         .Input(0, "X", "the input of " + type)
                         .Input(1, "Y", "its output")
                         .Input(2, "dY", "the gradient of Y")
                         .Output(0, "dX", "the gradient of X")
                         .IdenticalTypeAndShapeOfInput(0)
                         .CostInferenceFunction(InferGradientCost)
                         .SetDoc(doc);
  DeclareWindowArguments(schema, WindowUse::kPool);
  RegisterGradient<GetPoolGradient>(type, file);
  return schema;
}

}  // namespace caffe2rt
