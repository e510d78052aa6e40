// Every built-in family on CUDA; the one place that lists them.

#include "operators/register_cuda.h"

#include "operators/conv/register_cuda.h"
#include "operators/elementwise/register_cuda.h"
#include "operators/fill/register_cuda.h"
#include "operators/image/register_cuda.h"
#include "operators/io/register_cuda.h"
#include "operators/math/synced_cuda.h"
#include "operators/matmul/register_cuda.h"
#include "operators/norm/register_cuda.h"
#include "operators/pool/register_cuda.h"
#include "operators/reduce/register_cuda.h"
#include "operators/select/register_cuda.h"
#include "operators/shape/register_cuda.h"

namespace caffe2rt {

void RegisterCudaOperators() {
  static const bool once = [] {
    RegisterConvCudaOperators();
    RegisterElementwiseCudaOperators();
    RegisterFillCudaOperators();
    RegisterImageCudaOperators();
    RegisterIoCudaOperators();
    RegisterMatmulCudaOperators();
    RegisterNormCudaOperators();
    RegisterPoolCudaOperators();
    RegisterReduceCudaOperators();
    RegisterSelectCudaOperators();
    RegisterShapeCudaOperators();
    RegisterSyncedMathCuda();
    return true;
  }();
  (void)once;
}

}  // namespace caffe2rt
