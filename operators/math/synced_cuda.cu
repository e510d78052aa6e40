#include <algorithm>
#include <memory>

#include "contexts/cuda/cuda_context.h"
#include "contexts/cuda/cuda_kernel.cuh"
#include "contexts/synced/synced_math.h"
#include "operators/math/synced_cuda.h"

namespace caffe2rt {

namespace {

// Sums are added up by at most so many blocks of threads, each over a part of this many elements or
// more, and then by one.
constexpr int64_t kMaxParts = 1024;
constexpr int64_t kMinPart = 4096;

struct Magnitude {
  CAFFE2RT_HOST_DEVICE double operator()(double x) const { return x < 0 ? -x : x; }
};
struct Square {
  CAFFE2RT_HOST_DEVICE double operator()(double x) const { return x * x; }
};

// A row is a part.
template <class T, class Term>
struct SumParts {
  int64_t n, part;
  const T* x;
  double* sums;
  CAFFE2RT_HOST_DEVICE void operator()(const Row& row) const {
    const int64_t first = row.index() * part, rest = n - first;
    const T* const in = x + first;
    const double sum = row.Reduce(rest < part ? rest : part, 0.0, Plus(),
                                  [=](int64_t i) { return Term()(static_cast<double>(in[i])); });
    row.Once([=, this] { sums[row.index()] = sum; });
  }
};

template <class T>
struct ScaleBy {
  T factor;
  T* x;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const { x[i] *= factor; }
};

template <class T>
struct SubtractFrom {
  const T* x;
  T* y;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const { y[i] -= x[i]; }
};

struct Same {
  CAFFE2RT_HOST_DEVICE double operator()(double x) const { return x; }
};

template <class T, class Term>
double Sum(CUDAContext& context, size_t count, const void* x) {
  const int64_t n = static_cast<int64_t>(count);
  if (n == 0) return 0;
  const int64_t part = std::max(kMinPart, (n + kMaxParts - 1) / kMaxParts);
  const int64_t parts = (n + part - 1) / part;
  const size_t nbytes = (static_cast<size_t>(parts) + 1) * sizeof(double);
  const DataPtr memory(NewCudaMemory(nbytes, context.stream()));
  double* const total = static_cast<double*>(memory.get());
  double* const sums = total + 1;
  ForEachRow(context, parts, SumParts<T, Term>{n, part, static_cast<const T*>(x), sums},
             "sum of synced memory");
  ForEachRow(context, 1, SumParts<double, Same>{parts, parts, sums, total}, "sum of synced memory");
  double result = 0;
  context.CopyBytesToCPU(sizeof(result), total, &result);
  context.FinishDeviceComputation();
  return result;
}

// Calls function(T{}) with the element type. THROWS for others than float and double.
template <class Function>
auto ForFloats(TypeMeta type, Function function) {
  CAFFE_ENFORCE(type.Match<float>() || type.Match<double>(),
                "arithmetic on synced memory is for float and double, not for ", type.name());
  return type.Match<float>() ? function(float{}) : function(double{});
}

CUDAContext& OnCuda(BaseContext& context) { return static_cast<CUDAContext&>(context); }

class CudaSyncedMath final : public SyncedMath {
 public:
  void Zero(BaseContext& context, size_t nbytes, void* data) const override {
    if (nbytes == 0) return;
    CUDA_ENFORCE(cudaMemsetAsync(data, 0, nbytes, OnCuda(context).cuda_stream()), nbytes,
                 " bytes of synced memory");
  }
  double Asum(BaseContext& context, TypeMeta type, size_t n, const void* x) const override {
    return ForFloats(type, [&](auto element) {
      return Sum<decltype(element), Magnitude>(OnCuda(context), n, x);
    });
  }
  double Sumsq(BaseContext& context, TypeMeta type, size_t n, const void* x) const override {
    return ForFloats(
        type, [&](auto element) { return Sum<decltype(element), Square>(OnCuda(context), n, x); });
  }
  void Scale(BaseContext& context, TypeMeta type, size_t n, double factor, void* x) const override {
    ForFloats(type, [&](auto element) {
      using T = decltype(element);
      ForEach(OnCuda(context), static_cast<int64_t>(n),
              ScaleBy<T>{static_cast<T>(factor), static_cast<T*>(x)}, "scale of synced memory");
    });
  }
  void Subtract(BaseContext& context, TypeMeta type, size_t n, const void* x,
                void* y) const override {
    ForFloats(type, [&](auto element) {
      using T = decltype(element);
      ForEach(OnCuda(context), static_cast<int64_t>(n),
              SubtractFrom<T>{static_cast<const T*>(x), static_cast<T*>(y)},
              "update of synced memory");
    });
  }
};

}  // namespace

void RegisterSyncedMathCuda() { RegisterSyncedMath(CUDA, std::make_unique<CudaSyncedMath>()); }

}  // namespace caffe2rt
