#include "operators/shape/add_slices.h"

#include <cstring>

#include "caffe2_core/base/simd.h"
#include "operators/primitives/wrapping.h"

namespace caffe2rt {

namespace {

struct AddSlice {
  template <class T>
  CAFFE2RT_SIMD_INLINE void operator()(int64_t n, const T* x, T* y) const {
    CAFFE2RT_SIMD_LOOP
    for (int64_t i = 0; i < n; ++i) y[i] = math::WrappingAdd(y[i], x[i]);
  }
};

// Below this size, selecting the instruction set costs more than it saves.
constexpr int64_t kSmallSlice = 8;

}  // namespace

template <class Index, class T>
void AddSlices(CPUContext&, AdditionOrder, const GatherSizes& sizes, const Index* indices,
               const T* values, T* y, AddSlicesScratch<CPUContext>*) {
  const int64_t block = sizes.block;
  const int64_t total = sizes.outer * sizes.size * block;
  if (total > 0) std::memset(y, 0, static_cast<size_t>(total) * sizeof(T));
  for (int64_t o = 0; o < sizes.outer; ++o) {
    for (int64_t j = 0; j < sizes.count; ++j, values += block) {
      const int64_t index = indices[j];
      const int64_t row = index < 0 && sizes.wrap ? index + sizes.size : index;
      CAFFE_ENFORCE(0 <= row && row < sizes.size, "index ", row,
                    " is out of range, want at least 0 and below ", sizes.size);
      T* const target = y + row * block;
      if (block < kSmallSlice) {
        AddSlice{}(block, values, target);
      } else {
        RunSimd(AddSlice{}, block, values, target);
      }
    }
    if (sizes.match_outer) indices += sizes.count;
    y += sizes.size * block;
  }
}

#define CAFFE2RT_ADD_SLICES(Index, T)                                                             \
  template void AddSlices(CPUContext&, AdditionOrder, const GatherSizes&, const Index*, const T*, \
                          T*, AddSlicesScratch<CPUContext>*);
CAFFE2RT_ADD_SLICES(int32_t, float)
CAFFE2RT_ADD_SLICES(int32_t, int32_t)
CAFFE2RT_ADD_SLICES(int32_t, int64_t)
CAFFE2RT_ADD_SLICES(int64_t, float)
CAFFE2RT_ADD_SLICES(int64_t, int32_t)
CAFFE2RT_ADD_SLICES(int64_t, int64_t)
#undef CAFFE2RT_ADD_SLICES

}  // namespace caffe2rt
