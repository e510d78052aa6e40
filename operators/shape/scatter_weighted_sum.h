#pragma once
// ScatterWeightedSum: multiplies those slices of X0 that INDICES name by W0, and then adds weighted
// slices to them, in place.
//   X0 [N, inner..], W0, INDICES [K] int32 or int64, X1 [K, inner..], W1, X2, W2, ...  ->  X0
// Floats; a weight has one element. A slice that INDICES name several times is multiplied and added
// to as often, first multiplied.
//
// An index out of range is an error. The CPU throws and changes nothing. On CUDA it has no effect,
// and the next wait for the stream throws. The order of additions is that of the CPU; with the engine
// ATOMIC it is any order.

#include <vector>

#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator.h"
#include "operators/shape/add_slices.h"
#include "operators/shape/scatter_kernels.h"

namespace caffe2rt {

// Instantiated for indices of int32_t and int64_t.
template <class Index>
void ScatterWeightedSlices(CPUContext& context, AdditionOrder order, const GatherSizes& sizes,
                           const Index* indices, const float* factor,
                           const std::vector<WeightedSlices>& slices, float* data,
                           AddSlicesScratch<CPUContext>* scratch);
template <class Index>
void ScatterWeightedSlices(CUDAContext& context, AdditionOrder order, const GatherSizes& sizes,
                           const Index* indices, const float* factor,
                           const std::vector<WeightedSlices>& slices, float* data,
                           AddSlicesScratch<CUDAContext>* scratch);

template <class Context>
class ScatterWeightedSumOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  ScatterWeightedSumOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws), slices_(static_cast<size_t>((InputSize() - 3) / 2)) {}

  bool RunOnDevice() override {
    return DispatchByType<int32_t, int64_t>(
        Input(2).dtype(), "input 2 (INDICES)",
        [&](auto element) { return RunWith<decltype(element)>(); });
  }

 private:
  template <class Index>
  bool RunWith() {
    const Tensor& indices = Input(2);
    Tensor* const data = Output(0);  // input 0
    data->template data<float>();    // THROWS before anything is modified
    CAFFE_ENFORCE_GE(data->dim(), 1, "rank of input 0 (X_0)");
    const GatherSizes sizes = {.outer = 1,
                               .size = data->dim(0),
                               .count = indices.numel(),
                               .block = data->size_from_dim(1)};
    const float* const factor = Weight(1);
    for (size_t k = 0; k < slices_.size(); ++k) {
      const int place = static_cast<int>(2 * k) + 3;
      const Tensor& X = Input(place);
      CAFFE_ENFORCE_EQ(X.numel(), sizes.count * sizes.block, "elements of input ", place,
                       " of shape ", X.sizes(), ", want ", sizes.count, " slices of ", sizes.block);
      slices_[k] = {X.data<float>(), Weight(place + 1)};
    }
    if (sizes.count * sizes.block == 0) return true;
    ScatterWeightedSlices(context_, AdditionOrderOf(this->engine()), sizes,
                          indices.template data<Index>(), factor, slices_,
                          data->template mutable_data<float>(), &scratch_);
    return true;
  }

  const float* Weight(int place) {
    const Tensor& weight = Input(place);
    CAFFE_ENFORCE_EQ(weight.numel(), 1, "elements of input ", place, " (a weight) of shape ",
                     weight.sizes());
    return weight.data<float>();
  }

  std::vector<WeightedSlices> slices_;
  AddSlicesScratch<Context> scratch_;
};

}  // namespace caffe2rt
