#pragma once
// math::Transpose, overloaded on the context. Used by Transpose, NCHW2NHWC and NHWC2NCHW.

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
