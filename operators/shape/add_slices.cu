// The kernels of AddSlices, ScatterAssign and ScatterWeightedSum.

#include <type_traits>

#include "contexts/cuda/cuda_kernel.cuh"
#include "contexts/cuda/cuda_report.h"
#include "operators/common/words.cuh"
#include "operators/primitives/wrapping.h"
#include "operators/shape/add_slices_kernels.h"
#include "operators/shape/scatter_kernels.h"

namespace caffe2rt {

namespace {

// Returns the slice that an index names, or -1 after reporting that it is out of range.
struct SliceFinder {
  int64_t size;
  bool wrap;
  KernelReport* report;
  ReportText text;
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

// A thread writes one word of a slice of y. Of equal keys, the last one is written.
template <class Word, class Index>
struct AssignRuns {
  Index n, block;  // number of keys; words of a slice
  const int64_t* keys;
  const int32_t* places;
  const Word* values;
  Word* y;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    const Index at = static_cast<Index>(i), entry = at / block, element = at % block;
    const int64_t key = keys[entry];
    if (key < 0 || (entry + 1 < n && keys[entry + 1] == key)) return;
    y[key * block + element] = values[int64_t{places[entry]} * block + element];
  }
};

// A thread computes one element of a slice of y. Only the threads at the first of equal keys work.
struct AddWeightedRuns {
  int64_t n, block;
  const int64_t* keys;
  const int32_t* places;
  const float* factor;  // null for 1
  const float* values;
  const float* weight;
  float* y;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    const int64_t element = i % block, entry = i / block, key = keys[entry];
    if (key < 0 || (entry > 0 && keys[entry - 1] == key)) return;
    float* const result = y + key * block + element;
    float sum = *result;
    for (int64_t j = entry; factor != nullptr && j < n && keys[j] == key; ++j) sum *= *factor;
    for (int64_t j = entry; j < n && keys[j] == key; ++j) {
      sum += *weight * values[places[j] * block + element];
    }
    *result = sum;
  }
};

// *y *= factor, atomically.
CAFFE2RT_HOST_DEVICE void MultiplyAtomically(float factor, float* y) {
#if defined(__CUDA_ARCH__)
  int* const bits = reinterpret_cast<int*>(y);
  int old = *bits, seen;
  do {
    seen = old;
    old = atomicCAS(bits, seen, __float_as_int(__int_as_float(seen) * factor));
  } while (old != seen);
#else
  *y *= factor;
#endif
}

// A thread multiplies one element, once for each index that names its slice.
template <class Element>
struct MultiplyElements {
  SliceFinder find;
  int64_t block;
  const Element* indices;
  const float* factor;
  float* y;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    const int64_t slice = find(indices[i / block]);
    if (slice >= 0 && *factor != 1.0f) MultiplyAtomically(*factor, y + slice * block + i % block);
  }
};

// A thread adds one element.
template <class Element>
struct AddWeightedElements {
  SliceFinder find;
  int64_t block;
  const Element* indices;
  const float* values;
  const float* weight;
  float* y;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    const int64_t slice = find(indices[i / block]);
    if (slice >= 0) AddAtomically(*weight * values[i], y + slice * block + i % block);
  }
};

}  // namespace

void AssignSortedSlices(CUDAContext& context, int64_t item_bytes, int64_t n, int64_t block,
                        const int64_t* keys, const int32_t* places, const void* values, void* y) {
  const int64_t block_bytes = block * item_bytes;
  ForWord(static_cast<uint64_t>(block_bytes) | AddressBits(values) | AddressBits(y),
          n * block_bytes, [&](auto word, auto index) {
            using Word = decltype(word);
            using Index = decltype(index);
            const int64_t words = block_bytes / static_cast<int64_t>(sizeof(Word));
            const AssignRuns<Word, Index> assign{static_cast<Index>(n),
                                                 static_cast<Index>(words),
                                                 keys,
                                                 places,
                                                 static_cast<const Word*>(values),
                                                 static_cast<Word*>(y)};
            ForEach(context, n * words, assign, "ScatterAssign");
          });
}

void AddWeightedSortedSlices(CUDAContext& context, int64_t n, int64_t block, const int64_t* keys,
                             const int32_t* places, const float* factor, const WeightedSlices& add,
                             float* y) {
  const AddWeightedRuns kernel{n, block, keys, places, factor, add.x, add.weight, y};
  ForEach(context, n * block, kernel, "ScatterWeightedSum");
}

template <class Index>
void MultiplySlicesInAnyOrder(CUDAContext& context, const GatherSizes& sizes, const Index* indices,
                              const float* factor, float* y) {
  const MultiplyElements<Index> kernel{FinderOf(context, sizes), sizes.block, indices, factor, y};
  ForEach(context, sizes.count * sizes.block, kernel, "ScatterWeightedSum");
}

template <class Index>
void AddWeightedSlicesInAnyOrder(CUDAContext& context, const GatherSizes& sizes,
                                 const Index* indices, const WeightedSlices& add, float* y) {
  const AddWeightedElements<Index> kernel{
      FinderOf(context, sizes), sizes.block, indices, add.x, add.weight, y};
  ForEach(context, sizes.count * sizes.block, kernel, "ScatterWeightedSum");
}

#define CAFFE2RT_SCATTER(Index)                                                             \
  template void MultiplySlicesInAnyOrder(CUDAContext&, const GatherSizes&, const Index*,    \
                                         const float*, float*);                             \
  template void AddWeightedSlicesInAnyOrder(CUDAContext&, const GatherSizes&, const Index*, \
                                            const WeightedSlices&, float*);
CAFFE2RT_SCATTER(int32_t)
CAFFE2RT_SCATTER(int64_t)
#undef CAFFE2RT_SCATTER

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
