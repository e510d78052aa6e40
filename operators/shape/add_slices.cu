#include <type_traits>

#include "contexts/cuda/cuda_kernel.cuh"
#include "contexts/cuda/cuda_report.h"
#include "operators/primitives/wrapping.h"
#include "operators/shape/add_slices_kernels.h"

namespace caffe2rt {

namespace {

// Returns the slice that an index names, or -1 after reporting that it is out of range.
struct SliceFinder {
  int64_t size;
  bool wrap;
  KernelReport* report;
  const char* text;
  CAFFE2RT_HOST_DEVICE int64_t operator()(int64_t index) const {
    if (index < 0 && wrap) index += size;
    if (index >= 0 && index < size) return index;
    report->Raise(text, index, size);
    return -1;
  }
};

SliceFinder FinderOf(const CUDAContext& context, const GatherSizes& sizes) {
  return {sizes.size, sizes.wrap, ReportOf(context),
          "index % is out of range, want at least 0 and below %"};
}

template <class Element>
struct MakeKeys {
  SliceFinder find;
  int64_t count;
  bool match_outer;
  const Element* indices;
  int64_t* keys;
  int32_t* places;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    const int64_t slice = find(indices[i]);
    keys[i] = slice < 0 || !match_outer ? slice : i / count * find.size + slice;
    places[i] = static_cast<int32_t>(i);
  }
};

// A thread computes one element of a slice of y. Only the threads at the first of equal keys work.
// With match_outer, the keys include the outer index, and `outer` is always 0.
template <class T>
struct AddRuns {
  int64_t n, size, block;  // number of keys, slices of y, elements of a slice
  const int64_t* keys;
  const int32_t* places;
  const T* values;
  T* y;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    const int64_t element = i % block, entry = i / block % n, outer = i / block / n;
    const int64_t key = keys[entry];
    if (key < 0 || (entry > 0 && keys[entry - 1] == key)) return;
    T sum = 0;
    for (int64_t j = entry; j < n && keys[j] == key; ++j) {
      sum = math::WrappingAdd(sum, values[(outer * n + places[j]) * block + element]);
    }
    y[(outer * size + key) * block + element] = sum;
  }
};

template <class T>
CAFFE2RT_HOST_DEVICE void AddAtomically(T value, T* y) {
#if defined(__CUDA_ARCH__)
  if constexpr (sizeof(T) == 8) {
    atomicAdd(reinterpret_cast<unsigned long long*>(y), static_cast<unsigned long long>(value));
  } else {
    atomicAdd(y, value);
  }
#else
  *y = math::WrappingAdd(*y, value);
#endif
}

// A thread adds one element.
template <class Element, class T>
struct AddElements {
  SliceFinder find;
  int64_t count, block;
  bool match_outer;
  const Element* indices;
  const T* values;
  T* y;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    const int64_t element = i % block, entry = i / block, outer = entry / count;
    const int64_t slice = find(indices[match_outer ? entry : entry % count]);
    if (slice < 0) return;
    AddAtomically(values[i], y + (outer * find.size + slice) * block + element);
  }
};

}  // namespace

template <class Index>
void MakeSliceKeys(CUDAContext& context, const GatherSizes& sizes, const Index* indices,
                   int64_t* keys, int32_t* places) {
  const MakeKeys<Index> make{
      FinderOf(context, sizes), sizes.count, sizes.match_outer, indices, keys, places};
  ForEach(context, IndicesOf(sizes), make, "AddSlices");
}

template <class T>
void AddSortedSlices(CUDAContext& context, const GatherSizes& sizes, const int64_t* keys,
                     const int32_t* places, const T* values, T* y) {
  const int64_t n = IndicesOf(sizes), outer = sizes.match_outer ? 1 : sizes.outer;
  const AddRuns<T> add{n, sizes.size, sizes.block, keys, places, values, y};
  ForEach(context, outer * n * sizes.block, add, "AddSlices");
}

template <class Index, class T>
void AddSlicesInAnyOrder(CUDAContext& context, const GatherSizes& sizes, const Index* indices,
                         const T* values, T* y) {
  const AddElements<Index, T> add{
      FinderOf(context, sizes), sizes.count, sizes.block, sizes.match_outer, indices, values, y};
  ForEach(context, sizes.outer * sizes.count * sizes.block, add, "AddSlices");
}

template void MakeSliceKeys(CUDAContext&, const GatherSizes&, const int32_t*, int64_t*, int32_t*);
template void MakeSliceKeys(CUDAContext&, const GatherSizes&, const int64_t*, int64_t*, int32_t*);
#define CAFFE2RT_ADD_SLICES(T)                                                                    \
  template void AddSortedSlices(CUDAContext&, const GatherSizes&, const int64_t*, const int32_t*, \
                                const T*, T*);                                                    \
  template void AddSlicesInAnyOrder(CUDAContext&, const GatherSizes&, const int32_t*, const T*,   \
                                    T*);                                                          \
  template void AddSlicesInAnyOrder(CUDAContext&, const GatherSizes&, const int64_t*, const T*, T*);
CAFFE2RT_ADD_SLICES(float)
CAFFE2RT_ADD_SLICES(int32_t)
CAFFE2RT_ADD_SLICES(int64_t)
#undef CAFFE2RT_ADD_SLICES

}  // namespace caffe2rt
