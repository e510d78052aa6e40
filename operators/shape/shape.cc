#include "operators/shape/shape.h"

#include <algorithm>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/inference.h"

namespace caffe2rt {

IntArrayRef DimsBetween(IntArrayRef dims, int64_t start, int64_t end) {
  const int64_t rank = static_cast<int64_t>(dims.size());
  const auto place = [rank](int64_t bound) {
    return std::clamp<int64_t>(bound < 0 ? bound + rank : bound, 0, rank);
  };
  const int64_t first = place(start), last = std::max(place(end), first);
  return dims.slice(static_cast<size_t>(first), static_cast<size_t>(last - first));
}

void RegisterShape() {
  RegisterSchema("Shape", __FILE__)
      .NumInputs(1)
      .NumOutputs(1)
      .Args(kShapeAxes, kShapeStart, kShapeEnd)
      .Input(0, "X", "any tensor")
      .Output(0, "shape", "vector of int64")
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        int64_t count = ArgumentHelper(def).Read(kShapeAxes).size();
        if (count == 0) {
          if (!AreKnown(in, 1)) return UnknownOutputs(def);
          const ArgumentHelper args(def);
          const std::vector<int64_t> dims = GetDimsVector(in[0]);
          count = static_cast<int64_t>(
              DimsBetween(dims, args.Read(kShapeStart), args.Read(kShapeEnd)).size());
        }
        return std::vector<TensorShape>{
            CreateTensorShape(std::vector<int64_t>{count}, TensorProto_DataType_INT64)};
      })
      .Traits({.family = OperatorFamily::kShape})
      .SetDoc("Computes the shape of a tensor as a vector.");
  RegisterCpuOperator<ShapeOp<CPUContext>>("Shape", __FILE__);
  // The output does not depend on values of the input.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("Shape", __FILE__);
}

}  // namespace caffe2rt
