#pragma once
// CUDAContext. Any source can include this header, also one that is compiled without CUDA
// (caffe2rt_cuda/with_cuda.h).
#include <ctime>
#include <mutex>

#include "caffe2/core/common.h"
#include "caffe2/core/common_gpu.h"
#include "caffe2/core/context.h"
#include "caffe2/core/context_base.h"
#include "caffe2/core/logging.h"
#include "caffe2/core/numa.h"
#include "caffe2/core/tensor.h"
#include "caffe2/core/types.h"
#include "caffe2/proto/caffe2_pb.h"
#if CAFFE2RT_WITH_CUDA
#include "contexts/cuda/cuda_context.h"
#include "contexts/cuda/pinned_allocator.h"
#else
#include "caffe2_core/compat/caffe2rt_cuda/host_context.h"
#endif

namespace caffe2 {

#if CAFFE2RT_WITH_CUDA
using ::caffe2rt::CUDAContext;
using ::caffe2rt::CUDAStaticContext;
using ::caffe2rt::GetCUDAStaticContext;
using ::caffe2rt::PinnedCPUAllocator;
using ::caffe2rt::ThreadLocalCUDAObjects;
#else
inline BaseStaticContext* GetCUDAStaticContext() { return ::caffe2rt::GetStaticContext(CUDA); }
#endif
#if CAFFE2RT_TEMPLATED_TENSOR
using TensorCUDA = Tensor<CUDAContext>;
#else
using TensorCUDA = ::caffe2rt::Tensor;
#endif

}  // namespace caffe2

#if CAFFE2RT_TEMPLATED_TENSOR
#pragma GCC visibility push(default)
namespace caffe2rt::internal {
template <>
inline const TypeData* TypeDataOf<::caffe2::TensorCUDA>() {
  return TypeDataOf<Tensor>();
}
}  // namespace caffe2rt::internal
#pragma GCC visibility pop
#endif
