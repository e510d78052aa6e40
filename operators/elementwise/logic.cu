// And, Or, Xor of bools and bits on CUDA.

#include "contexts/cuda/cuda_context.h"
#include "operators/elementwise/binary.h"
#include "operators/elementwise/binary_functions.h"
#include "operators/elementwise/map.cuh"

namespace caffe2rt {

void RegisterLogicCuda() {
  RegisterBinaryCuda<AndFunction, bool>("And", __FILE__);
  RegisterBinaryCuda<OrFunction, bool>("Or", __FILE__);
  RegisterBinaryCuda<XorFunction, bool>("Xor", __FILE__);
  RegisterBinaryCuda<AndFunction, bool, int32_t, int64_t>("BitwiseAnd", __FILE__);
  RegisterBinaryCuda<OrFunction, bool, int32_t, int64_t>("BitwiseOr", __FILE__);
  RegisterBinaryCuda<XorFunction, bool, int32_t, int64_t>("BitwiseXor", __FILE__);
}

}  // namespace caffe2rt
