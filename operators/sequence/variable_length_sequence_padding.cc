// VariableLengthSequencePadding: sets the steps behind the end of each sequence to 0.
//   X [steps, batch, inner..] float, lengths [batch] int32  ->  the shape of X, may be in place
//
// Caffe2 has no implementation for CUDA.

#include <algorithm>

#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/copy_rows.h"

namespace caffe2rt {

namespace {

class VariableLengthSequencePaddingOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;

  bool RunOnDevice() override {
    const Tensor& x = Input(0);
    const Tensor& lengths = Input(1);
    CAFFE_ENFORCE_GE(x.dim(), 3, "rank of input 0 (X) of shape ", x.sizes(),
                     ", want [steps, batch, inner]");
    const float* const from = x.data<float>();
    const int32_t* const length = lengths.data<int32_t>();
    const int64_t steps = x.dim(0), batch = x.dim(1), block = x.size_from_dim(2);
    CAFFE_ENFORCE_GE(lengths.numel(), batch,
                     "elements of input 1 (lengths), want dim 1 of input 0 (X) of shape ",
                     x.sizes());
    float* y = OutputData<float>(0, x.sizes());
    if (x.numel() == 0) return true;  // there may be any number of empty steps
    if (y != from) std::copy_n(from, x.numel(), y);
    for (int64_t t = 0; t < steps; ++t) {
      for (int64_t b = 0; b < batch; ++b, y += block) {
        if (t >= length[b]) std::fill_n(y, block, 0.0f);
      }
    }
    return true;
  }
};

}  // namespace

void RegisterVariableLengthSequencePadding() {
  RegisterSchema("VariableLengthSequencePadding", __FILE__)
      .NumInputs(2)
      .NumOutputs(1)
      .AllowInplace({{0, 0}})
      .Input(0, "X", "[steps, batch, inner..] float")
      .Input(1, "lengths", "[batch] int32: the number of steps of each sequence")
      .Output(0, "Y", "X, with zeros in all steps from lengths[b] on")
      .IdenticalTypeAndShapeOfInput(0)
      .SetDoc("Sets the steps behind the end of each sequence to 0.");
  RegisterCpuOperator<VariableLengthSequencePaddingOp>("VariableLengthSequencePadding", __FILE__);
  // Caffe2 has no gradient for this operator.
}

}  // namespace caffe2rt
