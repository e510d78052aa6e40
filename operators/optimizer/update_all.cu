// UpdateAll: dense updates. The rates of Lars and YellowFin.

#include "contexts/cuda/cuda_kernel.cuh"
#include "operators/optimizer/rate_kernels.h"
#include "operators/optimizer/update_kernels.h"
#include "operators/optimizer/update_rules.h"
#include "operators/primitives/half.cuh"
#include "operators/primitives/reduce_all.cuh"

namespace caffe2rt {

namespace {

// A thread updates one element.
template <class Rule>
struct UpdateElement {
  Rule rule;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const { rule(i, i, rule.Rate()); }
};

// The same with conversions that run on the device.
struct UpdateHalf {
  HalfMomentumRule rule;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    float after = math::Load(rule.moment[i]);
    const float param = math::Load(rule.param[i]);
    const float step = rule.Step(*rule.rate, math::Load(rule.grad[i]), param, &after);
    math::Store(param - step, rule.out_param + i);
    math::Store(after, rule.out_moment + i);
    math::Store(step, rule.out_grad + i);
  }
};

}  // namespace

template <class Rule>
void UpdateAll(CUDAContext& context, int64_t n, const Rule& rule) {
  ForEach(context, n, UpdateElement<Rule>{rule}, "UpdateAll");
}

template <>
void UpdateAll(CUDAContext& context, int64_t n, const HalfMomentumRule& rule) {
  ForEach(context, n, UpdateHalf{rule}, "UpdateAll");
}
template void UpdateAll(CUDAContext&, int64_t, const AdadeltaRule&);
template void UpdateAll(CUDAContext&, int64_t, const AdagradRule&);
template void UpdateAll(CUDAContext&, int64_t, const AdamRule&);
template void UpdateAll(CUDAContext&, int64_t, const MomentumRule&);
template void UpdateAll(CUDAContext&, int64_t, const RmsPropRule&);
template void UpdateAll(CUDAContext&, int64_t, const ScaleRule&);
template void UpdateAll(CUDAContext&, int64_t, const YellowFinRule&);

void ComputeLarsRate(CUDAContext& context, int64_t n, const LarsRate& rate, Tensor* scratch) {
  ReduceAll(context, n, rate, scratch, "Lars");
}

void ComputeYellowFinSums(CUDAContext& context, int64_t n, const YellowFinSums& sums,
                          Tensor* scratch) {
  ReduceAll(context, n, sums, scratch, "YellowFin");
}

void ComputeYellowFinNumbers(CUDAContext& context, const YellowFinNumbers& numbers) {
  ForEach(context, 1, numbers, "YellowFin");
}

}  // namespace caffe2rt
