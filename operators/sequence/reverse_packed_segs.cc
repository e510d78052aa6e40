#include "operators/sequence/reverse_packed_segs.h"

#include <cstring>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"

namespace caffe2rt {

void ReverseRowBytes(CPUContext&, const StepSizes& sizes, const int64_t* lengths, const void* x,
                     void* y) {
  const size_t bytes = static_cast<size_t>(sizes.block_bytes);
  const char* const from = static_cast<const char*>(x);
  char* to = static_cast<char*>(y);
  for (int64_t t = 0; t < sizes.steps; ++t) {
    for (int64_t b = 0; b < sizes.batch; ++b, to += bytes) {
      const int64_t step = t < lengths[b] ? lengths[b] - 1 - t : t;
      std::memcpy(to, from + static_cast<size_t>(step * sizes.batch + b) * bytes, bytes);
    }
  }
}

namespace {

// The operator is its own inverse.
class GetReversePackedSegsGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    return SingleGradientDef("ReversePackedSegs", "", {GO(0), I(1)}, {GI(0)});
  }
};

}  // namespace

void RegisterReversePackedSegs() {
  RegisterSchema("ReversePackedSegs", __FILE__)
      .NumInputs(2)
      .NumOutputs(1)
      .Input(0, "data", "[steps, batch, inner] float, double, int32, int64 or bool")
      .Input(1, "lengths",
             "[batch] int32 or int64: the number of steps to reverse, at most `steps`")
      .Output(0, "reversed data", "the shape of data")
      .IdenticalTypeAndShapeOfInput(0)
      .Traits({.family = OperatorFamily::kShape})
      .SetDoc(
          "Reverses the order of the first lengths[b] steps of each batch entry b and copies the "
          "others.");
  RegisterCpuOperator<ReversePackedSegsOp<CPUContext>>("ReversePackedSegs", __FILE__);
  RegisterGradient<GetReversePackedSegsGradient>("ReversePackedSegs", __FILE__);
}

}  // namespace caffe2rt
