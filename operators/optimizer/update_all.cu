// UpdateAll: dense updates.

#include "contexts/cuda/cuda_kernel.cuh"
#include "operators/optimizer/rate_kernels.h"
#include "operators/optimizer/update_kernels.h"
#include "operators/optimizer/update_rules.h"

namespace caffe2rt {

namespace {

// A thread updates one element.
template <class Rule>
struct UpdateElement {
  Rule rule;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const { rule(i, i, rule.Rate()); }
};

}  // namespace

template <class Rule>
void UpdateAll(CUDAContext& context, int64_t n, const Rule& rule) {
  ForEach(context, n, UpdateElement<Rule>{rule}, "UpdateAll");
}

template void UpdateAll(CUDAContext&, int64_t, const AdadeltaRule&);
template void UpdateAll(CUDAContext&, int64_t, const AdagradRule&);
template void UpdateAll(CUDAContext&, int64_t, const AdamRule&);
template void UpdateAll(CUDAContext&, int64_t, const MomentumRule&);
template void UpdateAll(CUDAContext&, int64_t, const RmsPropRule&);
template void UpdateAll(CUDAContext&, int64_t, const ScaleRule&);
template void UpdateAll(CUDAContext&, int64_t, const YellowFinRule&);

}  // namespace caffe2rt
