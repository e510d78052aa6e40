#include "operators/detection/batch_permutation.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/base/simd.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/inference.h"

namespace caffe2rt {

namespace {

CAFFE2RT_SIMD void AddPermutedRow(const float* x, int64_t n, float* y) {
  for (int64_t i = 0; i < n; ++i) y[i] += x[i];
}

void CheckIndex(int64_t index, int64_t row, int64_t rows) {
  CAFFE_ENFORCE(0 <= index && index < rows, "the index of row ", row, " of the output is ", index,
                ", want at least 0 and below ", rows, ", the number of rows");
}

class GetBatchPermutationGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    return SingleGradientDef("BatchPermutationGradient", "", std::vector<std::string>{I(1), GO(0)},
                             std::vector<std::string>{GI(0)});
  }
};

}  // namespace

void PermuteRows(CPUContext&, int64_t rows, int64_t columns, const int32_t* indices, const float* x,
                 float* y) {
  const size_t nbytes = static_cast<size_t>(columns) * sizeof(float);
  for (int64_t i = 0; i < rows; ++i) {
    CheckIndex(indices[i], i, rows);
    std::memcpy(y + i * columns, x + indices[i] * columns, nbytes);
  }
}

void PermuteRowsGradient(CPUContext&, int64_t rows, int64_t columns, const int32_t* indices,
                         const float* dy, float* dx) {
  std::fill_n(dx, rows * columns, 0.0f);
  for (int64_t i = 0; i < rows; ++i) {
    CheckIndex(indices[i], i, rows);
    AddPermutedRow(dy + i * columns, columns, dx + indices[i] * columns);
  }
}

PermutationSize SizeOfPermutation(int place, IntArrayRef data, IntArrayRef indices) {
  const char* const name = place == 0 ? "X" : "dY";
  CAFFE_ENFORCE_GE(data.size(), 1u, "rank of input ", place, " (", name, ")");
  const bool fits = place == 0 ? indices.size() == 1 && indices[0] == data[0]
                               : CheckedProduct(indices) >= data[0];
  CAFFE_ENFORCE(fits, "input ", 1 - place, " (indices) has shape ", indices,
                ", want one index for each row of input ", place, " (", name, ") of shape ", data);
  return {data[0], CheckedProduct(data.slice(1))};
}

void RegisterBatchPermutation() {
  RegisterSchema("BatchPermutation", __FILE__)
      .NumInputs(2)
      .NumOutputs(1)
      .Input(0, "X", "[N, ...]")
      .Input(1, "indices", "[N] int32, at least 0 and below N")
      .Output(0, "Y", "the shape of X; row i is row indices[i] of X")
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        if (!AreKnown(in, 1)) return UnknownOutputs(def);
        return std::vector<TensorShape>{
            CreateTensorShape(GetDimsVector(in[0]), TensorProto::FLOAT)};
      })
      .SetDoc("Reorders the rows of X.");
  RegisterCpuOperator<BatchPermutationOp<CPUContext, false>>("BatchPermutation", __FILE__);

  RegisterSchema("BatchPermutationGradient", __FILE__)
      .NumInputs(2)
      .NumOutputs(1)
      .Input(0, "indices", "the indices of BatchPermutation")
      .Input(1, "dY", "the gradient of Y")
      .Output(0, "dX", "the gradient of X")
      .IdenticalTypeAndShapeOfInput(1)
      .SetDoc("The gradient of BatchPermutation. The gradients of equal indices are added up.");
  RegisterCpuOperator<BatchPermutationOp<CPUContext, true>>("BatchPermutationGradient", __FILE__);
  RegisterGradient<GetBatchPermutationGradient>("BatchPermutation", __FILE__);
}

}  // namespace caffe2rt
