#include "operators/sequence/gather_padding.h"

#include <algorithm>

#include "caffe2_core/base/simd.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/inference.h"
#include "operators/primitives/wrapping.h"

namespace caffe2rt {

namespace {

struct AddRows {
  template <class T>
  CAFFE2RT_SIMD_INLINE void operator()(int64_t rows, int64_t block, const T* x, T* sum) const {
    for (int64_t i = 0; i < rows; ++i, x += block) {
      CAFFE2RT_SIMD_LOOP
      for (int64_t j = 0; j < block; ++j) sum[j] = math::WrappingAdd(sum[j], x[j]);
    }
  }
};

}  // namespace

template <class T>
void SumPadding(CPUContext&, const PaddingSums& sizes, const int64_t* offsets, const T* x,
                T* before, T* after) {
  std::fill_n(before, sizes.block, T(0));
  if (after != nullptr) std::fill_n(after, sizes.block, T(0));
  T* const end = after != nullptr ? after : before;
  for (int64_t s = 0; s < sizes.segments; ++s) {
    RunSimd(AddRows{}, sizes.start, sizes.block, x + offsets[s] * sizes.block, before);
    RunSimd(AddRows{}, sizes.end, sizes.block, x + (offsets[s + 1] - sizes.end) * sizes.block, end);
  }
}

#define CAFFE2RT_SUM_PADDING(T) \
  template void SumPadding(CPUContext&, const PaddingSums&, const int64_t*, const T*, T*, T*);
CAFFE2RT_SUM_PADDING(float)
CAFFE2RT_SUM_PADDING(double)
CAFFE2RT_SUM_PADDING(int32_t)
CAFFE2RT_SUM_PADDING(int64_t)
#undef CAFFE2RT_SUM_PADDING

namespace {

std::vector<TensorShape> InferSums(const OperatorDef& def, const std::vector<TensorShape>& in) {
  std::vector<TensorShape> out = UnknownOutputs(def);
  const PaddingWidths widths = ReadPaddingWidths(ArgumentHelper(def));
  if (!IsKnown(in[0]) || in[0].dims_size() < 1 || widths.both() == 0) return out;
  std::vector<int64_t> dims = GetDimsVector(in[0]);
  dims.erase(dims.begin());
  for (TensorShape& shape : out) shape = CreateTensorShape(dims, in[0].data_type());
  return out;
}

}  // namespace

void RegisterGatherPadding() {
  RegisterSchema("GatherPadding", __FILE__)
      .NumInputs(2)
      .NumOutputs(1, 2)
      .Args(kPaddingWidth, kEndPaddingWidth)
      .Input(0, "data_in", "[rows, inner..] float, double, int32 or int64")
      .Input(1, "lengths", "int32: the number of rows of each segment with its padding")
      .Output(0, "padding_sum", "[inner..]: the sum of the rows of padding before all segments")
      .Output(1, "end_padding_sum",
              "(optional) [inner..]: that of the rows after all segments; default: they are added "
              "to padding_sum")
      .TensorInferenceFunction(InferSums)
      .SetDoc(
          "Sums up the rows of padding of all segments. It is the gradient of the paddings of "
          "AddPadding. If both widths are 0, the sums are scalars of type int64.");
  RegisterCpuOperator<GatherPaddingOp<CPUContext>>("GatherPadding", __FILE__);
  // As in Caffe2, it has no gradient maker: it only runs in backward passes.
}

}  // namespace caffe2rt
