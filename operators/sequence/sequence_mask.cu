#include "contexts/cuda/cuda_kernel.cuh"
#include "operators/primitives/half.cuh"
#include "operators/sequence/sequence_kernels.h"

namespace caffe2rt {

namespace {

// A thread writes one element.
template <class T>
struct Mask {
  MaskSizes sizes;
  const int32_t* numbers;
  T fill;
  const T* x;
  T* y;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    const int64_t position = i / sizes.repeat % sizes.width;
    const int64_t row = i / sizes.repeat / sizes.width % sizes.cycle;
    const MaskInterval kept = KeptPositions(sizes, row, numbers != nullptr ? numbers[row] : 0);
    y[i] = position >= kept.first && position < kept.last ? x[i] : fill;
  }
};

}  // namespace

template <class T>
void MaskRows(CUDAContext& context, const MaskSizes& sizes, const int32_t* numbers, float fill,
              const T* x, T* y) {
  T value;
  math::Store(fill, &value);
  ForEach(context, sizes.rows * sizes.width * sizes.repeat, Mask<T>{sizes, numbers, value, x, y},
          "SequenceMask");
}
template void MaskRows(CUDAContext&, const MaskSizes&, const int32_t*, float, const float*, float*);
template void MaskRows(CUDAContext&, const MaskSizes&, const int32_t*, float, const float16*,
                       float16*);

}  // namespace caffe2rt
