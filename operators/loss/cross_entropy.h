#pragma once
// LabelCrossEntropy, CrossEntropy: the cross entropy of each row of probabilities and its label. A
// label is the number of the class, or the probability of each class.
//   X [N, D..] float, label [N] or [N, 1] int32  ->  Y [N]      (LabelCrossEntropy)
//   X [N, D..] float, label [N, D] float         ->  Y [N]      (CrossEntropy)
// A tensor X of rank 0 or 1 is one row. Probabilities below 1e-20 count as 1e-20.
//
// A label that is not a class is an error: the CPU throws; on CUDA the next wait for the stream
// throws.
//
// LabelCrossEntropyGradient, CrossEntropyGradient:
//   X, label, dY [N]  ->  dX

#include "caffe2_core/runtime/operator.h"
#include "operators/loss/loss_kernels.h"

namespace caffe2rt {

struct CrossEntropySize {
  int64_t rows, classes;
};
#pragma GCC visibility push(default)  // for libcaffe2_cuda
// Checks the shapes. THROW if they do not match. `by_class`: labels are the numbers of classes.
CrossEntropySize SizeOfCrossEntropy(IntArrayRef x, IntArrayRef label, bool by_class);
CrossEntropySize SizeOfCrossEntropyGradient(IntArrayRef x, IntArrayRef label, IntArrayRef dy,
                                            bool by_class);
#pragma GCC visibility pop

template <class Context, bool kByClass>
class CrossEntropyOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  CrossEntropyOp(const OperatorDef& def, Workspace* ws) : Operator<Context>(def, ws) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const Tensor& label = Input(1);
    const auto [rows, classes] = SizeOfCrossEntropy(X.sizes(), label.sizes(), kByClass);
    const float* const x = X.data<float>();
    if constexpr (kByClass) {
      const int32_t* const labels = label.data<int32_t>();
      const int64_t dims[] = {rows};
      LabelCrossEntropy(context_, rows, classes, x, labels,
                        this->template OutputData<float>(0, dims));
    } else {
      const float* const labels = label.data<float>();
      const int64_t dims[] = {rows};
      CrossEntropy(context_, rows, classes, x, labels, this->template OutputData<float>(0, dims));
    }
    return true;
  }
};

template <class Context, bool kByClass>
class CrossEntropyGradientOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  CrossEntropyGradientOp(const OperatorDef& def, Workspace* ws) : Operator<Context>(def, ws) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const Tensor& label = Input(1);
    const Tensor& dY = Input(2);
    const auto [rows, classes] =
        SizeOfCrossEntropyGradient(X.sizes(), label.sizes(), dY.sizes(), kByClass);
    const float* const x = X.data<float>();
    const float* const dy = dY.data<float>();
    if constexpr (kByClass) {
      const int32_t* const labels = label.data<int32_t>();
      LabelCrossEntropyGradient(context_, rows, classes, x, labels, dy,
                                this->template OutputData<float>(0, X.sizes()));
    } else {
      const float* const labels = label.data<float>();
      CrossEntropyGradient(context_, rows, classes, x, labels, dy,
                           this->template OutputData<float>(0, X.sizes()));
    }
    return true;
  }
};

}  // namespace caffe2rt
