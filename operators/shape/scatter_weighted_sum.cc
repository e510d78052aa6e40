#include "operators/shape/scatter_weighted_sum.h"

#include "caffe2_core/base/simd.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/shape/scatter_assign.h"

namespace caffe2rt {

namespace {

struct ScaleSlices {
  template <class Index>
  CAFFE2RT_SIMD_INLINE void operator()(int64_t count, int64_t block, const Index* indices,
                                       float factor, float* data) const {
    for (int64_t i = 0; i < count; ++i) {
      float* const row = data + indices[i] * block;
      CAFFE2RT_SIMD_LOOP
      for (int64_t j = 0; j < block; ++j) row[j] *= factor;
    }
  }
};

struct AddWeightedSlices {
  template <class Index>
  CAFFE2RT_SIMD_INLINE void operator()(int64_t count, int64_t block, const Index* indices,
                                       const float* x, float weight, float* data) const {
    for (int64_t i = 0; i < count; ++i, x += block) {
      float* const row = data + indices[i] * block;
      CAFFE2RT_SIMD_LOOP
      for (int64_t j = 0; j < block; ++j) row[j] += weight * x[j];
    }
  }
};

}  // namespace

template <class Index>
void ScatterWeightedSlices(CPUContext&, AdditionOrder, const GatherSizes& sizes,
                           const Index* indices, const float* factor,
                           const std::vector<WeightedSlices>& slices, float* data,
                           AddSlicesScratch<CPUContext>*) {
  CheckSliceIndices(2, indices, sizes.count, sizes.size);
  if (*factor != 1.0f) {
    RunSimd(ScaleSlices{}, sizes.count, sizes.block, indices, *factor, data);
  }
  for (const WeightedSlices& add : slices) {
    RunSimd(AddWeightedSlices{}, sizes.count, sizes.block, indices, add.x, *add.weight, data);
  }
}

template void ScatterWeightedSlices(CPUContext&, AdditionOrder, const GatherSizes&, const int32_t*,
                                    const float*, const std::vector<WeightedSlices>&, float*,
                                    AddSlicesScratch<CPUContext>*);
template void ScatterWeightedSlices(CPUContext&, AdditionOrder, const GatherSizes&, const int64_t*,
                                    const float*, const std::vector<WeightedSlices>&, float*,
                                    AddSlicesScratch<CPUContext>*);

void RegisterScatterWeightedSum() {
  RegisterSchema("ScatterWeightedSum", __FILE__)
      .NumInputs([](int n) { return n > 3 && n % 2 == 1; })
      .NumOutputs(1)
      .EnforceInplace({{0, 0}})
      .Input(0, "X_0", "[N, ..] float")
      .Input(1, "Weight_0", "the factor of the slices of X_0: one element")
      .Input(2, "INDICES", "K indices of slices of X_0, int32 or int64")
      .Input(3, "X_1", "[K, ..] the slices to add")
      .Input(4, "Weight_1", "the weight of X_1: one element; X_2, Weight_2, ... may follow")
      .Output(0, "X_0", "input 0, in place")
      .IdenticalTypeAndShapeOfInput(0)
      .SetDoc(
          "Multiplies those slices of X_0 that INDICES name by Weight_0, then adds the slices of "
          "X_1, X_2, ... times their weights to them, in place. A slice that is named several "
          "times "
          "is multiplied and added to as often. On CUDA the order of additions is fixed; the "
          "engine "
          "ATOMIC uses atomic operations instead, whose order and rounding differ between runs.");
  RegisterCpuOperator<ScatterWeightedSumOp<CPUContext>>("ScatterWeightedSum", __FILE__);
  // The operator overwrites its input.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("ScatterWeightedSum", __FILE__);
}

}  // namespace caffe2rt
