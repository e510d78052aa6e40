#include "contexts/cuda/cuda_context.h"
#include "operators/shape/transpose_items.h"
#include "operators/shape/transpose_items_kernels.h"

namespace caffe2rt {

namespace {

// Inserts an axis; `axes` stays sorted by decreasing distance in the result.
void AddAxis(const math::TransposePlan::Axis& axis, TransposeAxes* axes) {
  if (axis.size == 1) return;
  CAFFE_ENFORCE_LT(axes->count, TransposeAxes::kMost, "axes of a transposition");
  int k = axes->count++;
  for (; k > 0 && axes->target[k - 1] < axis.target; --k) {
    axes->target[k] = axes->target[k - 1];
    axes->source[k] = axes->source[k - 1];
  }
  axes->target[k] = axis.target;
  axes->source[k] = axis.source;
}

}  // namespace

void TransposeItems(CUDAContext& context, const math::TransposePlan& plan, size_t itemsize,
                    const void* src, void* dst) {
  const size_t block_bytes = static_cast<size_t>(plan.block_items) * itemsize;
  if (plan.blocks == 1) {
    context.CopyBytesSameDevice(block_bytes, src, dst);
    return;
  }
  TransposeAxes axes;
  for (const auto& axis : plan.outer) AddAxis(axis, &axes);
  AddAxis(plan.rows, &axes);
  AddAxis(plan.columns, &axes);
  TransposeBlocks(context, axes, plan.blocks, static_cast<int64_t>(block_bytes), src, dst);
}

}  // namespace caffe2rt
