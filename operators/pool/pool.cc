#include "operators/pool/pool.h"

#include "caffe2_core/base/checked_math.h"
#include "operators/common/inference.h"

namespace caffe2rt {

namespace {

// Accepted for compatibility; ignored.
constexpr ArgumentSpec<float> kPoolPower{"p", 2, "exponent of LpPool; has no effect"};
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

}  // namespace

OpSchema& RegisterPoolSchema(const std::string& type, const char* file, const std::string& doc) {
  OpSchema& schema =
      RegisterSchema(type, file)
          .NumInputs(1)
          .NumOutputs(1)
          .Args(kPoolPower, kPoolCeilMode)
          .Input(0, "X", "[N, C, *] or [N, *, C], with 1 to 3 axes")
          .Output(0, "Y", "[N, C, windows..] or [N, windows.., C], one value for each window")
          .TensorInferenceFunction(InferPoolShape)
          .CostInferenceFunction(InferCost)
          .SetDoc(doc);
  DeclareWindowArguments(schema, WindowUse::kPool);
  return schema;
}

}  // namespace caffe2rt
