// The kernels of NanCheck and EnforceFinite.

#include "operators/elementwise/finite_checks_kernels.h"
#include "operators/primitives/reduce_all.cuh"

namespace caffe2rt {

namespace {

// Computes the lowest index of an element that is not finite, or n.
template <class T>
struct FirstNotFiniteOf {
  using Value = int64_t;
  int64_t n;
  const T* x;
  NotFinite* found;
  CAFFE2RT_HOST_DEVICE Value Start() const { return n; }
  // x - x is 0 only for finite x.
  CAFFE2RT_HOST_DEVICE Value At(int64_t i) const { return x[i] - x[i] == T(0) ? n : i; }
  CAFFE2RT_HOST_DEVICE Value Combine(Value a, Value b) const { return a < b ? a : b; }
  CAFFE2RT_HOST_DEVICE void Finish(Value first) const {
    found->index = first;
    found->value = first < n ? static_cast<double>(x[first]) : 0.0;
  }
};

template <class T>
void Find(CUDAContext& context, int64_t n, const T* x, NotFinite* found, void* scratch) {
  ReduceAll(context, n, FirstNotFiniteOf<T>{n, x, found}, scratch, "FirstNotFinite");
}

}  // namespace

void FindNotFinite(CUDAContext& context, int64_t n, const float* x, NotFinite* found,
                   void* scratch) {
  Find(context, n, x, found, scratch);
}
void FindNotFinite(CUDAContext& context, int64_t n, const double* x, NotFinite* found,
                   void* scratch) {
  Find(context, n, x, found, scratch);
}
int64_t NotFiniteScratchBytes() { return kReduceAllBytes<int64_t>; }

}  // namespace caffe2rt
