// CUDA implementation of binary.h. One thread computes one element of the result.

#include "contexts/cuda/cuda_kernel.cuh"
#include "operators/math/binary.h"

namespace caffe2rt::math::internal {

namespace {

template <class F, class T, class Result>
struct Zipping {
  Walk walk;
  const T* x;
  const T* y;
  Result* z;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    int64_t a, b;
    walk.Locate(i, &a, &b);
    z[i] = F()(x[a], y[b]);
  }
};
template <class T>
struct Broadcasting {
  Walk walk;
  T alpha;
  const T* x;
  T* y;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    int64_t a, b;
    walk.Locate(i, &a, &b);
    y[i] = alpha * x[a];
  }
};
template <class Item>
struct Copying {
  Walk walk;
  const Item* x;
  Item* y;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    int64_t a, b;
    walk.Locate(i, &a, &b);
    y[b] = x[a];
  }
};
struct alignas(16) Item16 {
  uint64_t words[2];
};

template <class Item>
void CopyAs(CUDAContext& context, const Walk& walk, const void* x, void* y) {
  ForEach(context, walk.size,
          Copying<Item>{walk, static_cast<const Item*>(x), static_cast<Item*>(y)}, "math copy");
}

}  // namespace

// g++ takes the visibility of a function template from its definition.
#pragma GCC visibility push(default)
template <class F, class T, class Result>
void CudaZip(CUDAContext& context, const Walk& walk, const T* x, const T* y, Result* z) {
  ForEach(context, walk.size, Zipping<F, T, Result>{walk, x, y, z}, "math zip");
}

template <class T>
void CudaBroadcast(CUDAContext& context, const Walk& walk, T alpha, const T* x, T* y) {
  ForEach(context, walk.size, Broadcasting<T>{walk, alpha, x, y}, "math::Broadcast");
}

void CudaCopyItems(CUDAContext& context, const Walk& walk, size_t item_size, const void* x,
                   void* y) {
  switch (item_size) {
    case 1:
      return CopyAs<uint8_t>(context, walk, x, y);
    case 2:
      return CopyAs<uint16_t>(context, walk, x, y);
    case 4:
      return CopyAs<uint32_t>(context, walk, x, y);
    case 8:
      return CopyAs<uint64_t>(context, walk, x, y);
    case 16:
      return CopyAs<Item16>(context, walk, x, y);
    default:
      CAFFE_THROW("items have ", item_size, " bytes, want 1, 2, 4, 8 or 16");
  }
}

#define ZIP(F, T, Result) \
  template void CudaZip<F, T, Result>(CUDAContext&, const Walk&, const T*, const T*, Result*);
#define OF_NUMBERS(Name)             \
  ZIP(Name##Value, float, float)     \
  ZIP(Name##Value, double, double)   \
  ZIP(Name##Value, int32_t, int32_t) \
  ZIP(Name##Value, int64_t, int64_t)
#define OF_BITS(Name)                \
  ZIP(Name##Value, bool, bool)       \
  ZIP(Name##Value, int32_t, int32_t) \
  ZIP(Name##Value, int64_t, int64_t)
#define COMPARE(Name)             \
  ZIP(Name##Value, float, bool)   \
  ZIP(Name##Value, double, bool)  \
  ZIP(Name##Value, int32_t, bool) \
  ZIP(Name##Value, int64_t, bool) \
  ZIP(Name##Value, bool, bool)
#define BROADCAST(T) template void CudaBroadcast(CUDAContext&, const Walk&, T, const T*, T*);

OF_NUMBERS(Add)
OF_NUMBERS(Sub)
OF_NUMBERS(Mul)
OF_NUMBERS(Div)
OF_NUMBERS(Min)
OF_NUMBERS(Max)
ZIP(AndValue, bool, bool)
ZIP(OrValue, bool, bool)
ZIP(XorValue, bool, bool)
OF_BITS(BitwiseAnd)
OF_BITS(BitwiseOr)
OF_BITS(BitwiseXor)
COMPARE(EQ)
COMPARE(NE)
COMPARE(LT)
COMPARE(LE)
COMPARE(GT)
COMPARE(GE)
BROADCAST(float)
BROADCAST(double)
BROADCAST(int32_t)
BROADCAST(int64_t)
#undef ZIP
#undef OF_NUMBERS
#undef OF_BITS
#undef COMPARE
#undef BROADCAST
#pragma GCC visibility pop

}  // namespace caffe2rt::math::internal
