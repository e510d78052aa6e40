#pragma once
// SpaceToBatch: divides each image into blocks of b * b pixels (b: block_size) and makes an image
// of the pixels at each position in the blocks. BatchToSpace is the inverse.
//   SpaceToBatch  X [N, C, H, W]            ->  Y [N * b * b, C, (H + pads) / b, (W + pads) / b]
//   BatchToSpace  X [N * b * b, C, h, w]    ->  Y [N, C, h * b - pads, w * b - pads]
//   wide[n, c, y * b + i - top, x * b + j - left] = narrow[(i * b + j) * N + n, c, y, x]
// Padding is read as zeros, and pixels outside the wide image are dropped. `pad` applies to all
// sides; pad_t overrides it for the top.

#include "caffe2_core/runtime/operator.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/image/space_to_batch_kernels.h"

namespace caffe2rt {

#pragma GCC visibility push(default)  // for libcaffe2_cuda
// THROWS if an argument is out of range.
SpaceBatchArguments ReadSpaceBatch(const ArgumentHelper& args);

// Computes both shapes from the shape of X. THROWS if the images cannot be divided into blocks.
SpaceBatchShape FromWide(const SpaceBatchArguments& args, IntArrayRef dims);
SpaceBatchShape FromNarrow(const SpaceBatchArguments& args, IntArrayRef dims);
#pragma GCC visibility pop

template <class Context, bool kToBatch>
class SpaceBatchOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  SpaceBatchOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws), arguments_(ReadSpaceBatch(this->args())) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const float* x = X.template data<float>();
    if constexpr (kToBatch) {
      const SpaceBatchShape shape = FromWide(arguments_, X.sizes());
      SpaceToBatch(context_, arguments_, shape, x,
                   this->template OutputData<float>(0, shape.narrow));
    } else {
      const SpaceBatchShape shape = FromNarrow(arguments_, X.sizes());
      BatchToSpace(context_, arguments_, shape, x, this->template OutputData<float>(0, shape.wide));
    }
    return true;
  }

 private:
  const SpaceBatchArguments arguments_;
};

}  // namespace caffe2rt
