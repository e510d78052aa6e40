// CUDA implementation of reductions.h. A warp or a block of threads computes one result; the whole
// device computes a result that stands alone. Sums of floats are accumulated in double, as on the
// CPU.

#include "contexts/cuda/cuda_kernel.cuh"
#include "operators/math/reductions.h"
#include "operators/primitives/device_scratch.h"
#include "operators/primitives/reduce_all.cuh"

namespace caffe2rt::math::internal {

namespace {

// The steps of a reduction: its start value, the value of an element, the combination of two
// values, and the final result.
template <Reduction kKind, class T>
struct Step {
  using Wide = internal::Sum<T>;
  CAFFE2RT_HOST_DEVICE static Wide Start() {
    if constexpr (kKind == Reduction::kMin) return Wide(std::numeric_limits<T>::max());
    if constexpr (kKind == Reduction::kMax) return Wide(std::numeric_limits<T>::lowest());
    return Wide(0);
  }
  CAFFE2RT_HOST_DEVICE static Wide ValueOf(T x) {
    const Wide v = x;
    if constexpr (kKind == Reduction::kL1) return v < 0 ? -v : v;
    if constexpr (kKind == Reduction::kL2) return v * v;
    return v;
  }
  CAFFE2RT_HOST_DEVICE Wide operator()(Wide a, Wide b) const {
    if constexpr (kKind == Reduction::kMin) return b < a ? b : a;
    if constexpr (kKind == Reduction::kMax) return b > a ? b : a;
    return a + b;
  }
  CAFFE2RT_HOST_DEVICE static T Finish(Wide s, T alpha, int64_t count) {
    if constexpr (kKind == Reduction::kMean) {
      return static_cast<T>(alpha * (s / static_cast<double>(count)));
    }
    if constexpr (kKind == Reduction::kL2) {
      return static_cast<T>(alpha * std::sqrt(static_cast<double>(s)));
    }
    return static_cast<T>(alpha * s);
  }
};

// The axes that the reduction keeps and those that it removes, each as a walk over x.
struct Axes {
  Walk kept, gone;
};
Axes SplitAxes(int rank, const int* x_dims, const int* y_dims) {
  int64_t step = 1;
  for (int i = 0; i < rank; ++i) step *= x_dims[i];
  const bool empty = step == 0;
  Axes axes;
  for (int i = 0; i < rank; ++i) {
    CAFFE_ENFORCE(y_dims[i] == x_dims[i] || y_dims[i] == 1, "dim ", i, " of the result is ",
                  y_dims[i], ", want ", x_dims[i], " or 1");
    if (!empty) step /= x_dims[i];
    (y_dims[i] == 1 ? axes.gone : axes.kept).Add(x_dims[i], step, 0);
  }
  return axes;
}

CAFFE2RT_HOST_DEVICE int64_t Place(const Walk& walk, int64_t i) {
  int64_t a, b;
  walk.Locate(i, &a, &b);
  return a;
}

template <Reduction kKind, class T>
struct ReduceRow {
  Axes axes;
  T alpha;
  const T* x;
  T* y;
  CAFFE2RT_HOST_DEVICE void operator()(const Row& row) const {
    using S = Step<kKind, T>;
    const T* const from = x + Place(axes.kept, row.index());
    const auto result = row.Reduce(axes.gone.size, S::Start(), S(), [=, this](int64_t i) {
      return S::ValueOf(from[Place(axes.gone, i)]);
    });
    row.Once([=, this] { y[row.index()] = S::Finish(result, alpha, axes.gone.size); });
  }
};

// The same for a single result, as ReduceAll expects it.
template <Reduction kKind, class T>
struct ReduceToOne {
  using Value = typename Step<kKind, T>::Wide;
  Walk gone;
  T alpha;
  const T* x;
  T* y;
  CAFFE2RT_HOST_DEVICE Value Start() const { return Step<kKind, T>::Start(); }
  CAFFE2RT_HOST_DEVICE Value At(int64_t i) const {
    return Step<kKind, T>::ValueOf(x[Place(gone, i)]);
  }
  CAFFE2RT_HOST_DEVICE Value Combine(Value a, Value b) const { return Step<kKind, T>()(a, b); }
  CAFFE2RT_HOST_DEVICE void Finish(Value result) const {
    *y = Step<kKind, T>::Finish(result, alpha, gone.size);
  }
};

template <class T>
struct DotOfAll {
  using Value = internal::Sum<T>;
  const T* a;
  const T* b;
  T* y;
  CAFFE2RT_HOST_DEVICE Value Start() const { return Value(0); }
  CAFFE2RT_HOST_DEVICE Value At(int64_t i) const { return static_cast<Value>(a[i]) * b[i]; }
  CAFFE2RT_HOST_DEVICE Value Combine(Value x, Value z) const { return x + z; }
  CAFFE2RT_HOST_DEVICE void Finish(Value sum) const { *y = static_cast<T>(sum); }
};

// Reduces everything with the scratch memory of the context's stream.
template <class Work>
void ReduceOnStream(CUDAContext& context, int64_t n, const Work& work, const char* name) {
  void* const scratch =
      n < kReduceAllLeast ? nullptr : StreamScratch(context, kReduceAllBytes<typename Work::Value>);
  ReduceAll(context, n, work, scratch, name);
}

template <Reduction kKind, class T>
void ReduceAxes(CUDAContext& context, const Axes& axes, T alpha, const T* x, T* y) {
  if (axes.kept.size == 1) {
    return ReduceOnStream(context, axes.gone.size, ReduceToOne<kKind, T>{axes.gone, alpha, x, y},
                          "math reduction");
  }
  ForEachRowOf(context, axes.gone.size, axes.kept.size, ReduceRow<kKind, T>{axes, alpha, x, y},
               "math reduction");
}

template <class T>
struct MomentsRow {
  Axes axes;
  const T* x;
  T* mean;
  T* var;
  CAFFE2RT_HOST_DEVICE void operator()(const Row& row) const {
    const T* const from = x + Place(axes.kept, row.index());
    const int64_t n = axes.gone.size;
    const double sum = row.Reduce(n, 0.0, caffe2rt::Plus(), [=, this](int64_t i) {
      return static_cast<double>(from[Place(axes.gone, i)]);
    });
    const double middle = sum / static_cast<double>(n);
    const double squares = row.Reduce(n, 0.0, caffe2rt::Plus(), [=, this](int64_t i) {
      const double d = from[Place(axes.gone, i)] - middle;
      return d * d;
    });
    row.Once([=, this] {
      mean[row.index()] = static_cast<T>(middle);
      var[row.index()] = static_cast<T>(squares / static_cast<double>(n));
    });
  }
};

template <class T>
struct Selecting {
  int64_t d;
  const T* x;
  const int* idx;
  T* y;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const { y[i] = x[i * d + idx[i]]; }
};
template <class T>
struct AddingStripes {
  int64_t stripe, batch;
  const T* first;
  T* y;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    T sum = y[i];
    for (int64_t b = 0; b < batch; ++b) sum += first[b * stripe + i];
    y[i] = sum;
  }
};

}  // namespace

// g++ takes the visibility of a function template from its definition.
#pragma GCC visibility push(default)
template <Reduction kKind, class T>
void CudaReduce(CUDAContext& context, int rank, const int* x_dims, const int* y_dims, T alpha,
                const T* x, T* y) {
  ReduceAxes<kKind>(context, SplitAxes(rank, x_dims, y_dims), alpha, x, y);
}

template <Reduction kKind, class T>
void CudaReduceMatrix(CUDAContext& context, int64_t rows, int64_t cols, bool columns, const T* x,
                      T* y) {
  Axes axes;
  (columns ? axes.gone : axes.kept).Add(rows, cols, 0);
  (columns ? axes.kept : axes.gone).Add(cols, 1, 0);
  ReduceAxes<kKind>(context, axes, T(1), x, y);
}

template <class T>
void CudaDot(CUDAContext& context, int64_t n, const T* a, const T* b, T* y) {
  ReduceOnStream(context, n, DotOfAll<T>{a, b, y}, "math::Dot");
}

template <class T>
void CudaMoments(CUDAContext& context, int rank, const int* x_dims, const int* y_dims, const T* x,
                 T* mean, T* var) {
  const Axes axes = SplitAxes(rank, x_dims, y_dims);
  if (axes.gone.size == 0) return;
  ForEachRowOf(context, axes.gone.size, axes.kept.size, MomentsRow<T>{axes, x, mean, var},
               "math::Moments");
}

template <class T>
void CudaSelect(CUDAContext& context, int64_t n, int64_t d, const T* x, const int* idx, T* y) {
  ForEach(context, n, Selecting<T>{d, x, idx, y}, "math::Select");
}

template <class T>
void CudaAddStripedBatch(CUDAContext& context, int64_t n, const T* first, T* y, int64_t stripe,
                         int64_t batch) {
  ForEach(context, n, AddingStripes<T>{stripe, batch, first, y}, "math::AddStripedBatch");
}

#define REDUCE(kind, T)                                                                      \
  template void CudaReduce<Reduction::kind, T>(CUDAContext&, int, const int*, const int*, T, \
                                               const T*, T*);                                \
  template void CudaReduceMatrix<Reduction::kind, T>(CUDAContext&, int64_t, int64_t, bool,   \
                                                     const T*, T*);
#define NUMBERS(T)                                                                    \
  REDUCE(kSum, T)                                                                     \
  REDUCE(kMean, T)                                                                    \
  REDUCE(kL1, T)                                                                      \
  REDUCE(kL2, T)                                                                      \
  REDUCE(kMin, T)                                                                     \
  REDUCE(kMax, T)                                                                     \
  template void CudaDot(CUDAContext&, int64_t, const T*, const T*, T*);               \
  template void CudaSelect(CUDAContext&, int64_t, int64_t, const T*, const int*, T*); \
  template void CudaAddStripedBatch(CUDAContext&, int64_t, const T*, T*, int64_t, int64_t);
#define MOMENTS(T) \
  template void CudaMoments(CUDAContext&, int, const int*, const int*, const T*, T*, T*);

NUMBERS(float)
NUMBERS(double)
NUMBERS(int32_t)
NUMBERS(int64_t)
MOMENTS(float)
MOMENTS(double)
#undef REDUCE
#undef NUMBERS
#undef MOMENTS
#pragma GCC visibility pop

}  // namespace caffe2rt::math::internal
