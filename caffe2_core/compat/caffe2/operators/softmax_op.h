#pragma once
// SoftmaxOp: the softmax of rows, a class that users specialize or extend. The built-in operator
// Softmax is another class.
#include <vector>

#include "caffe2/core/context.h"
#include "caffe2/core/logging.h"
#include "caffe2/core/operator.h"
#include "caffe2/core/types.h"
#include "caffe2/operators/softmax_shared.h"
#include "caffe2/utils/math.h"

namespace caffe2 {
#if CAFFE2RT_TEMPLATED_TENSOR
inline namespace templated {
#endif

// The axes before `axis` are the rows. Computes for CPUContext; for other contexts, a source
// specializes RunOnDevice.
template <class T, class Context>
class SoftmaxOp : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  SoftmaxOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws), axis_(this->template GetSingleArgument<int>("axis", 1)) {}

  bool RunOnDevice() override {
    if constexpr (Context::GetDeviceType() == CPU) {
      const auto& X = Input(0);
      const int axis = X.canonical_axis_index(axis_);
      const int rows = static_cast<int>(X.size_to_dim(axis));
      const int columns = static_cast<int>(X.size_from_dim(axis));
      scale_.Resize(rows);
      auto* Y = Output(0);
      Y->ResizeLike(X);
      softmax_utils::SoftmaxCPU(rows, columns, false, X.template data<T>(),
                                Y->template mutable_data<T>(), scale_.template mutable_data<T>(),
                                &context_);
      return true;
    } else {
      CAFFE_NOT_IMPLEMENTED;
    }
  }

 protected:
  int axis_;
#if CAFFE2RT_TEMPLATED_TENSOR
  Tensor<Context> scale_, rowmax_, sum_multiplier_;
#else
  Tensor scale_{Context::GetDeviceType()}, rowmax_{Context::GetDeviceType()},
      sum_multiplier_{Context::GetDeviceType()};
#endif
};

#if CAFFE2RT_TEMPLATED_TENSOR
}  // namespace templated
#endif
}  // namespace caffe2
