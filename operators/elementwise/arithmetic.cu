// Add, Sub, Mul, Div on CUDA.

#include "contexts/cuda/cuda_context.h"
#include "operators/elementwise/binary.h"
#include "operators/elementwise/binary_functions.h"
#include "operators/elementwise/map.cuh"

namespace caffe2rt {

namespace {

// An integer divided by 0 is 0 here: RequireNonZero tells of it, and the kernel goes on.
struct DivOnDevice {
  static constexpr bool kNeedsNonZero = true;
  template <class T>
  CAFFE2RT_SIMD_INLINE T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      if (b == T(0)) return T(0);
    }
    return DivFunction()(a, b);
  }
};

}  // namespace

void RegisterArithmeticCuda() {
  RegisterBinaryCuda<AddFunction, float, double, int32_t, int64_t>("Add", __FILE__);
  RegisterBinaryCuda<SubFunction, float, double, int32_t, int64_t>("Sub", __FILE__);
  RegisterBinaryCuda<MulFunction, float, double, int32_t, int64_t>("Mul", __FILE__);
  RegisterBinaryCuda<DivOnDevice, float, double, int32_t, int64_t>("Div", __FILE__);
}

}  // namespace caffe2rt
