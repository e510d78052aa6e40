#pragma once
// math::Transpose by context: what Transpose and the order switches move their items with.

#include "operators/primitives/transpose.h"

namespace caffe2rt {

class CPUContext;
class CUDAContext;

// See math::Transpose.
inline void TransposeItems(CPUContext&, math::TransposePlan& plan, size_t itemsize, const void* src,
                           void* dst) {
  math::Transpose(plan, itemsize, src, dst);
}
void TransposeItems(CUDAContext& context, const math::TransposePlan& plan, size_t itemsize,
                    const void* src, void* dst);

}  // namespace caffe2rt
