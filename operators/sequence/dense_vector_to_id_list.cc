// DenseVectorToIdList: the columns of each row whose elements are set.
//   values [N, D] float  ->  out_lengths int32 [N], out_values int32 [sum of lengths]
#include <algorithm>
#include <cmath>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/element_type.h"
#include "operators/common/inference.h"

namespace caffe2rt {
namespace {

// As in Caffe2: unless the element and a half is 0 without its fraction. NaN is set.
bool IsSetElement(float x) { return !(std::abs(static_cast<double>(x) + 0.5) < 1); }

class DenseVectorToIdListOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;

  bool RunOnDevice() override {
    const Tensor& values = Input(0);
    CAFFE_ENFORCE_EQ(values.dim(), 2, "rank of input 0 (values) of shape ", values.sizes());
    RequireElements<float>(values);
    const int64_t rows = values.dim(0);
    const auto columns = CheckedCast<int32_t>(values.dim(1), "dim 1 of input 0 (values)");
    const float* x = values.data<float>();
    const int64_t total = std::count_if(x, x + values.numel(), IsSetElement);
    int32_t* const lengths = OutputData<int32_t>(0, {rows});
    int32_t* const ids = OutputData<int32_t>(1, {total});
    int32_t* next = ids;
    for (int64_t row = 0; row < rows; ++row) {
      const int32_t* const first = next;
      for (int32_t i = 0; i < columns; ++i, ++x) {
        if (IsSetElement(*x)) *next++ = i;
      }
      lengths[row] = static_cast<int32_t>(next - first);
    }
    return true;
  }
};

}  // namespace

void RegisterDenseVectorToIdList() {
  RegisterSchema("DenseVectorToIdList", __FILE__)
      .NumInputs(1)
      .NumOutputs(2)
      .Input(0, "values", "[N, D] float, usually 0 and 1")
      .Output(0, "out_lengths", "[N] int32: the number of ids of each row")
      .Output(1, "out_values", "int32: the ids of all rows, ascending in a row")
      .TypesOfInput(0, {.accepted = {TensorProto::FLOAT}})
      .TensorInferenceFunction([](const OperatorDef&, const std::vector<TensorShape>& in) {
        std::vector<TensorShape> out(2, UnknownShapeOf(TensorProto::INT32));
        if (AreKnown(in, 1) && in[0].dims_size() == 2)
          out[0] = CreateTensorShape(std::vector<int64_t>{in[0].dims(0)}, TensorProto::INT32);
        return out;
      })
      .SetDoc(
          "Lists the columns of each row whose elements are at least 0.5, at most -1.5 or NaN.");
  RegisterCpuOperator<DenseVectorToIdListOp>("DenseVectorToIdList", __FILE__);
  // Ids have no gradient.
  RegisterGradient<NoGradient>("DenseVectorToIdList", __FILE__);
}

}  // namespace caffe2rt
