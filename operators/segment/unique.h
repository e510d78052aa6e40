#pragma once
// Unique: the distinct numbers of a vector in ascending order, and where each number is among them.
//   indices [n] int32 or int64  ->  unique_indices [k], optional remapping [n] int32
//
// On a device the host waits for k.

#include <limits>

#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator.h"
#include "contexts/cpu/cpu_context.h"

namespace caffe2rt {

class CUDAContext;

// Scratch memory of a context.
template <class Context>
struct UniqueScratch {
  Tensor keys{Context::GetDeviceType()}, places{Context::GetDeviceType()},
      ranks{Context::GetDeviceType()}, temporary{Context::GetDeviceType()};
  Tensor count{CPU};
};

// Sorts n >= 1 numbers into the scratch memory and returns how many differ. Instantiated for int32_t
// and int64_t.
template <class T>
int64_t SortUnique(CPUContext& context, int64_t n, const T* x, UniqueScratch<CPUContext>* scratch);
template <class T>
int64_t SortUnique(CUDAContext& context, int64_t n, const T* x,
                   UniqueScratch<CUDAContext>* scratch);
// Writes the results of SortUnique. `remapping` may be null.
template <class T>
void WriteUnique(CPUContext& context, int64_t n, const T* x, UniqueScratch<CPUContext>* scratch,
                 T* unique, int32_t* remapping);
template <class T>
void WriteUnique(CUDAContext& context, int64_t n, const T* x, UniqueScratch<CUDAContext>* scratch,
                 T* unique, int32_t* remapping);

template <class Context>
class UniqueOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  UniqueOp(const OperatorDef& def, Workspace* ws) : Operator<Context>(def, ws) {}

  bool RunOnDevice() override {
    return DispatchByType<int32_t, int64_t>(
        Input(0).dtype(), "input 0 (indices)",
        [&](auto element) { return RunWith<decltype(element)>(); });
  }

 private:
  template <class T>
  bool RunWith() {
    const Tensor& indices = Input(0);
    CAFFE_ENFORCE_EQ(indices.dim(), 1, "rank of input 0 (indices) of shape ", indices.sizes(),
                     ", want a vector");
    const int64_t n = indices.numel();
    CAFFE_ENFORCE_LE(n, std::numeric_limits<int32_t>::max(), "elements of input 0 (indices)");
    const T* const x = indices.template data<T>();
    const int64_t count = n > 0 ? SortUnique(context_, n, x, &scratch_) : 0;
    T* const unique = this->template OutputData<T>(0, {count});
    int32_t* const remapping =
        this->OutputSize() > 1 ? this->template OutputData<int32_t>(1, {n}) : nullptr;
    if (n > 0) WriteUnique(context_, n, x, &scratch_, unique, remapping);
    return true;
  }

  UniqueScratch<Context> scratch_;
};

}  // namespace caffe2rt
