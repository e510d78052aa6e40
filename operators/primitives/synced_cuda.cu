// Sums: each block of threads sums one part of the elements, and one more block sums the parts.

#include <algorithm>

#include "contexts/cuda/cuda_kernel.cuh"
#include "operators/primitives/synced_cuda_kernels.h"

namespace caffe2rt {

namespace {

constexpr int64_t kMaxParts = kSyncedSumDoubles - 1;
constexpr int64_t kMinPart = 4096;

struct Magnitude {
  CAFFE2RT_HOST_DEVICE double operator()(double x) const { return x < 0 ? -x : x; }
};
struct Square {
  CAFFE2RT_HOST_DEVICE double operator()(double x) const { return x * x; }
};

// Each row is one part.
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

template <class Term, class T>
void Sum(CUDAContext& context, int64_t n, const T* x, double* sums) {
  const int64_t part = std::max(kMinPart, (n + kMaxParts - 1) / kMaxParts);
  const int64_t parts = (n + part - 1) / part;
  ForEachRow(context, parts, SumParts<T, Term>{n, part, x, sums + 1}, "sum of synced memory");
  ForEachRow(context, 1, SumParts<double, Same>{parts, parts, sums + 1, sums},
             "sum of synced memory");
}

}  // namespace

template <class T>
void SumOnCuda(CUDAContext& context, SyncedTerm term, int64_t n, const T* x, double* sums) {
  if (term == SyncedTerm::kMagnitude) return Sum<Magnitude>(context, n, x, sums);
  Sum<Square>(context, n, x, sums);
}
template <class T>
void ScaleOnCuda(CUDAContext& context, int64_t n, T factor, T* x) {
  ForEach(context, n, ScaleBy<T>{factor, x}, "scale of synced memory");
}
template <class T>
void SubtractOnCuda(CUDAContext& context, int64_t n, const T* x, T* y) {
  ForEach(context, n, SubtractFrom<T>{x, y}, "update of synced memory");
}

#define CAFFE2RT_SYNCED(T)                                                       \
  template void SumOnCuda(CUDAContext&, SyncedTerm, int64_t, const T*, double*); \
  template void ScaleOnCuda(CUDAContext&, int64_t, T, T*);                       \
  template void SubtractOnCuda(CUDAContext&, int64_t, const T*, T*);
CAFFE2RT_SYNCED(float)
CAFFE2RT_SYNCED(double)
#undef CAFFE2RT_SYNCED

}  // namespace caffe2rt
