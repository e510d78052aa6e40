#pragma once
// SpaceToBatch: every block_size-th row and column becomes a picture of its own; BatchToSpace puts
// them together again.
//   SpaceToBatch  X [N, C, H, W]            ->  Y [N * b * b, C, (H + pads) / b, (W + pads) / b]
//   BatchToSpace  X [N * b * b, C, h, w]    ->  Y [N, C, h * b - pads, w * b - pads]
//   wide[n, c, y * b + i - top, x * b + j - left] = narrow[(i * b + j) * N + n, c, y, x]
// Padding reads zeros; what lies beyond the picture is dropped. `pad` is for all sides, pad_t
// overrides the top.

#include <string>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/runtime/operator.h"
#include "caffe2_core/tensor/data_type.h"
#include "contexts/cpu/cpu_context.h"

namespace caffe2rt {

class CUDAContext;

struct SpaceBatchArguments {
  int64_t block = 2;
  int64_t top = 0, left = 0, bottom = 0, right = 0;
};
// THROWS for a block below 1 or an order that is not NCHW.
SpaceBatchArguments ParseSpaceBatch(const ArgumentHelper& args);

// The side with few wide pictures and the side with many narrow ones.
struct SpaceBatchShape {
  int64_t wide[4] = {};
  int64_t narrow[4] = {};
};
// From the shape of X. THROWS when the pictures cannot be divided.
SpaceBatchShape FromWide(const SpaceBatchArguments& args, IntArrayRef dims);
SpaceBatchShape FromNarrow(const SpaceBatchArguments& args, IntArrayRef dims);

void SpaceToBatch(CPUContext& context, const SpaceBatchArguments& args,
                  const SpaceBatchShape& shape, const float* wide, float* narrow);
void SpaceToBatch(CUDAContext& context, const SpaceBatchArguments& args,
                  const SpaceBatchShape& shape, const float* wide, float* narrow);
void BatchToSpace(CPUContext& context, const SpaceBatchArguments& args,
                  const SpaceBatchShape& shape, const float* narrow, float* wide);
void BatchToSpace(CUDAContext& context, const SpaceBatchArguments& args,
                  const SpaceBatchShape& shape, const float* narrow, float* wide);

template <class Context, bool kToBatch>
class SpaceBatchOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  SpaceBatchOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws), arguments_(ParseSpaceBatch(this->args())) {}

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
