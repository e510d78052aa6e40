#pragma once
// TopK: the k largest elements along one dimension, in descending order, equal elements by index.
//   X float, k (argument, or int64 input 1)
//   ->  values, indices int64, optional int64 vector of indices into the flattened X
// TopKGradient: a tensor of zeros with the gradients of the values at their indices.
//   gradient of the values float, indices, X (for its shape)  ->  dX
//
// If the dimension is shorter than k, the remaining values are 0 and the remaining indices -1.
// Elements are compared with <, so a NaN among the first k elements is never replaced, and a later
// NaN is never selected.

#include <utility>
#include <vector>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/runtime/operator.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/copy_rows.h"
#include "operators/common/host_input.h"
#include "operators/select/axis_argument.h"
#include "operators/select/top_k_kernels.h"

namespace caffe2rt {

inline constexpr ArgumentSpec<int> kTopK{
    "k", -1, "number of elements to find, at least 1; required unless input 1 is given"};

// Scratch memory of a context.
template <class Context>
struct TopKScratch {
  Tensor keys{Context::GetDeviceType()}, places{Context::GetDeviceType()},
      temporary{Context::GetDeviceType()};
};
template <>
struct TopKScratch<CPUContext> {
  std::vector<std::pair<float, int64_t>> heap;
};

void FindTop(CPUContext& context, const TopKTask& task, TopKScratch<CPUContext>* scratch);
void FindTop(CUDAContext& context, const TopKTask& task, TopKScratch<CUDAContext>* scratch);

// Writes task.dy to dx, which holds zeros. Negative indices are skipped. For an index beyond the
// dimension, the CPU THROWS; on CUDA, the next wait for the stream throws.
void ScatterTop(CPUContext& context, const TopKGradientTask& task);
void ScatterTop(CUDAContext& context, const TopKGradientTask& task);

template <class Context>
class TopKOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  TopKOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        k_(this->ReadArgument(kTopK)),
        axis_(this->ReadArgument(kSelectAxis)) {
    CAFFE_ENFORCE(InputSize() == 2 || k_ >= 1, "argument k is ", k_, ", want at least 1");
    CAFFE_ENFORCE(this->OutputBlob(0) != this->OutputBlob(1) &&
                      (OutputSize() < 3 || (this->OutputBlob(0) != this->OutputBlob(2) &&
                                            this->OutputBlob(1) != this->OutputBlob(2))),
                  "two outputs have the same name");
  }

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const int64_t k = Count();
    const AxisSpan span = SpanOfAxis(X.sizes(), axis_);
    const float* x = X.template data<float>();
    dims_.assign(X.dims().begin(), X.dims().end());
    dims_[static_cast<size_t>(span.axis)] = k;
    float* values = this->template OutputData<float>(0, dims_);
    int64_t* indices = this->template OutputData<int64_t>(1, dims_);
    const int64_t total = Output(1)->numel();
    int64_t* flat = OutputSize() > 2 ? this->template OutputData<int64_t>(2, {total}) : nullptr;
    FindTop(context_, TopKTask{span, k, x, values, indices, flat}, &scratch_);
    return true;
  }

 private:
  int64_t Count() {
    int64_t k = k_;
    if (k == -1 && InputSize() == 2) {
      const Tensor& wanted = count_input_.Read(*this, 1);
      CAFFE_ENFORCE_GE(wanted.numel(), 1, "elements of input 1 (k)");
      k = *wanted.template data<int64_t>();
    }
    CAFFE_ENFORCE_GE(k, 1, "k");
    return k;
  }

  const int k_;
  const int axis_;
  std::vector<int64_t> dims_;
  TopKScratch<Context> scratch_;
  HostInput count_input_;
};

template <class Context>
class TopKGradientOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  TopKGradientOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws), axis_(this->ReadArgument(kSelectAxis)) {}

  bool RunOnDevice() override {
    const Tensor& dY = Input(0);
    const Tensor& indices = Input(1);
    const Tensor& X = InputAnywhere(*this, 2);
    const AxisSpan span = SpanOfAxis(X.sizes(), axis_);
    const size_t axis = static_cast<size_t>(span.axis);
    bool fits = dY.dim() == X.dim();
    for (size_t i = 0; fits && i < X.dims().size(); ++i) {
      fits = i == axis || dY.dims()[i] == X.dims()[i];
    }
    CAFFE_ENFORCE(fits, "input 0 (dY) has shape ", dY.sizes(), ", want that of input 2 (X) ",
                  X.sizes(), " except for dim ", axis);
    CAFFE_ENFORCE(indices.sizes() == dY.sizes(), "input 1 (Indices) has shape ", indices.sizes(),
                  ", want that of input 0 (dY) ", dY.sizes());
    const float* dy = dY.template data<float>();
    const int64_t* places = indices.template data<int64_t>();
    float* dx = this->template OutputData<float>(0, X.sizes());
    FillZeros(context_, static_cast<size_t>(X.numel()) * sizeof(float), dx);
    if (dY.numel() > 0) ScatterTop(context_, {span, dY.dims()[axis], dy, places, dx});
    return true;
  }

 private:
  const int axis_;
};

}  // namespace caffe2rt
