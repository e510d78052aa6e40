#include <limits>

#include "contexts/cuda/cuda_context.h"
#include "operators/optimizer/update_loops.h"
#include "operators/primitives/cub.h"

namespace caffe2rt {

template <class Index>
SortedRows SortRows(CUDAContext& context, const RowSizes& sizes, const Index* indices,
                    Tensor* keys_memory, Tensor* places_memory, Tensor* temporary) {
  const int64_t n = sizes.count;
  CAFFE_ENFORCE_LE(n, std::numeric_limits<int32_t>::max(), "number of indices");
  keys_memory->Resize(2, n);
  places_memory->Resize(2, n);
  int64_t* const keys = keys_memory->mutable_data<int64_t>();
  int32_t* const places = places_memory->mutable_data<int32_t>();
  MakeRowKeys(context, sizes, indices, keys, places);
  math::SortByCub(context, n, keys, keys + n, places, places + n, temporary);
  return {keys + n, places + n};
}

template SortedRows SortRows(CUDAContext&, const RowSizes&, const int32_t*, Tensor*, Tensor*,
                             Tensor*);
template SortedRows SortRows(CUDAContext&, const RowSizes&, const int64_t*, Tensor*, Tensor*,
                             Tensor*);

}  // namespace caffe2rt
