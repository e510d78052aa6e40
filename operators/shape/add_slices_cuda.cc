#include <limits>

#include "contexts/cuda/cuda_context.h"
#include "operators/common/copy_rows.h"
#include "operators/primitives/cub.h"
#include "operators/shape/add_slices.h"
#include "operators/shape/add_slices_kernels.h"

namespace caffe2rt {

template <class Index>
SortedSlices SortSlices(CUDAContext& context, const GatherSizes& sizes, const Index* indices,
                        AddSlicesScratch<CUDAContext>* scratch) {
  const int64_t n = IndicesOf(sizes);
  CAFFE_ENFORCE_LE(n, std::numeric_limits<int32_t>::max(), "number of indices");
  scratch->keys.Resize(2, n);
  scratch->places.Resize(2, n);
  int64_t* const keys = scratch->keys.template mutable_data<int64_t>();
  int32_t* const places = scratch->places.template mutable_data<int32_t>();
  MakeSliceKeys(context, sizes, indices, keys, places);
  math::SortByCub(context, n, keys, keys + n, places, places + n, &scratch->temporary);
  return {keys + n, places + n};
}

template SortedSlices SortSlices(CUDAContext&, const GatherSizes&, const int32_t*,
                                 AddSlicesScratch<CUDAContext>*);
template SortedSlices SortSlices(CUDAContext&, const GatherSizes&, const int64_t*,
                                 AddSlicesScratch<CUDAContext>*);

template <class Index, class T>
void AddSlices(CUDAContext& context, AdditionOrder order, const GatherSizes& sizes,
               const Index* indices, const T* values, T* y,
               AddSlicesScratch<CUDAContext>* scratch) {
  FillZeros(context, static_cast<size_t>(sizes.outer * sizes.size * sizes.block) * sizeof(T), y);
  const int64_t n = IndicesOf(sizes);
  if (n == 0 || sizes.outer == 0) return;
  if (order == AdditionOrder::kAny) {
    return AddSlicesInAnyOrder(context, sizes, indices, values, y);
  }
  const SortedSlices sorted = SortSlices(context, sizes, indices, scratch);
  AddSortedSlices(context, sizes, sorted.keys, sorted.places, values, y);
}

#define CAFFE2RT_ADD_SLICES(Index, T)                                                              \
  template void AddSlices(CUDAContext&, AdditionOrder, const GatherSizes&, const Index*, const T*, \
                          T*, AddSlicesScratch<CUDAContext>*);
CAFFE2RT_ADD_SLICES(int32_t, float)
CAFFE2RT_ADD_SLICES(int32_t, int32_t)
CAFFE2RT_ADD_SLICES(int32_t, int64_t)
CAFFE2RT_ADD_SLICES(int64_t, float)
CAFFE2RT_ADD_SLICES(int64_t, int32_t)
CAFFE2RT_ADD_SLICES(int64_t, int64_t)
#undef CAFFE2RT_ADD_SLICES

}  // namespace caffe2rt
