// Cast on CUDA. Strings live on the CPU alone.

#include "contexts/cuda/cuda_context.h"
#include "operators/elementwise/cast.h"
#include "operators/elementwise/cast_function.h"
#include "operators/elementwise/map.cuh"

namespace caffe2rt {

template <class To, class From>
void CastElements(CUDAContext& context, int64_t n, const From* x, To* y) {
  if constexpr (std::is_same_v<To, std::string>) {
    CAFFE_THROW("argument to is STRING: strings are on the CPU alone, cast there");
  } else {
    Map(context, n, x, y, CastFunction<To>{});
  }
}

void RegisterCastCuda() { RegisterOperator<CastOp<CUDAContext>>(CUDA, "Cast", __FILE__); }

}  // namespace caffe2rt
