#include "operators/primitives/synced_cuda.h"

#include <memory>

#include "caffe2_core/base/byte_size.h"
#include "contexts/cuda/cuda_context.h"
#include "contexts/synced/synced_math.h"
#include "operators/primitives/synced_cuda_kernels.h"

namespace caffe2rt {

namespace {

// Calls function(T{}), where T is the element type. THROWS for types other than float and double.
template <class Function>
auto ForFloats(TypeMeta type, Function function) {
  CAFFE_ENFORCE(type.Match<float>() || type.Match<double>(),
                "arithmetic on synced memory is for float and double, not for ", type.name());
  return type.Match<float>() ? function(float{}) : function(double{});
}

CUDAContext& OnCuda(BaseContext& context) { return static_cast<CUDAContext&>(context); }

double Sum(CUDAContext& context, SyncedTerm term, TypeMeta type, size_t n, const void* x) {
  return ForFloats(type, [&](auto element) {
    using T = decltype(element);
    if (n == 0) return 0.0;
    const DataPtr memory(NewCudaMemory(kSyncedSumDoubles * sizeof(double), context.stream()));
    auto* const sums = static_cast<double*>(memory.get());
    SumOnCuda(context, term, static_cast<int64_t>(n), static_cast<const T*>(x), sums);
    double result = 0;
    context.CopyBytesToCPU(sizeof(result), sums, &result);
    context.FinishDeviceComputation();
    return result;
  });
}

class CudaSyncedMath final : public SyncedMath {
 public:
  void Zero(BaseContext& context, size_t nbytes, void* data) const override {
    if (nbytes == 0) return;
    CUDA_ENFORCE(cudaMemsetAsync(data, 0, nbytes, OnCuda(context).cuda_stream()),
                 ByteSizeText(nbytes), " of synced memory");
  }
  double Asum(BaseContext& context, TypeMeta type, size_t n, const void* x) const override {
    return Sum(OnCuda(context), SyncedTerm::kMagnitude, type, n, x);
  }
  double Sumsq(BaseContext& context, TypeMeta type, size_t n, const void* x) const override {
    return Sum(OnCuda(context), SyncedTerm::kSquare, type, n, x);
  }
  void Scale(BaseContext& context, TypeMeta type, size_t n, double factor, void* x) const override {
    ForFloats(type, [&](auto element) {
      using T = decltype(element);
      ScaleOnCuda(OnCuda(context), static_cast<int64_t>(n), static_cast<T>(factor),
                  static_cast<T*>(x));
    });
  }
  void Subtract(BaseContext& context, TypeMeta type, size_t n, const void* x,
                void* y) const override {
    ForFloats(type, [&](auto element) {
      using T = decltype(element);
      SubtractOnCuda(OnCuda(context), static_cast<int64_t>(n), static_cast<const T*>(x),
                     static_cast<T*>(y));
    });
  }
};

}  // namespace

void RegisterSyncedMathCuda() { RegisterSyncedMath(CUDA, std::make_unique<CudaSyncedMath>()); }

}  // namespace caffe2rt
