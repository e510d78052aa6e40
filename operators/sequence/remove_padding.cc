#include "operators/sequence/remove_padding.h"

#include <cstring>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"

namespace caffe2rt {

void TrimRowBytes(CPUContext&, const PaddedSizes& sizes, const int64_t* offsets, const void* x,
                  void* y) {
  const size_t bytes = static_cast<size_t>(sizes.block_bytes);
  const char* const from = static_cast<const char*>(x);
  char* to = static_cast<char*>(y);
  for (int64_t s = 0; s < sizes.segments; ++s) {
    const int64_t first = offsets[s] + sizes.start, last = offsets[s + 1] - sizes.end;
    if (last == first) continue;
    const size_t count = static_cast<size_t>(last - first) * bytes;
    std::memcpy(to, from + static_cast<size_t>(first) * bytes, count);
    to += count;
  }
  const int64_t done = offsets[sizes.segments] - sizes.segments * (sizes.start + sizes.end);
  if (sizes.rows > done) std::memset(to, 0, static_cast<size_t>(sizes.rows - done) * bytes);
}

namespace {

class GetRemovePaddingGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    return SingleGradientDef("AddPadding", "", PaddingGradientInputs(Def(), GO(0)), {GI(0)});
  }
};

}  // namespace

void RegisterRemovePadding() {
  RegisterSchema("RemovePadding", __FILE__)
      .NumInputs(1, 2)
      .NumOutputs(1, 2)
      .Args(kPaddingWidth, kEndPaddingWidth)
      .Input(0, "data_in", "[rows, inner..] float, double, int32, int64 or bool")
      .Input(1, "lengths",
             "(optional) int32: the number of rows of each segment with its padding; default: one "
             "segment")
      .Output(0, "data_out", "[rows - padding, inner..]: the segments without padding")
      .Output(1, "lengths_out", "(optional) the lengths of the segments without padding")
      .SetDoc("Removes the rows of padding before and after each segment of rows.");
  RegisterCpuOperator<RemovePaddingOp<CPUContext>>("RemovePadding", __FILE__);
  RegisterGradient<GetRemovePaddingGradient>("RemovePadding", __FILE__);
}

}  // namespace caffe2rt
