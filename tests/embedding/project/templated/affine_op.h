#pragma once
// An operator in three files, as in 2017: this header, and one source for each device.
#include "caffe2/core/context.h"
#include "caffe2/core/operator.h"

namespace caffe2 {

template <typename T, class Context>
class TemplatedAffineOp final : public Operator<Context> {
 public:
  TemplatedAffineOp(const OperatorDef& operator_def, Workspace* ws)
      : Operator<Context>(operator_def, ws),
        scale_(OperatorBase::GetSingleArgument<float>("scale", 1.)),
        offset_(OperatorBase::GetSingleArgument<int>("offset", 0)) {
    CAFFE_ENFORCE_GE(offset_, 0);
  }
  USE_OPERATOR_CONTEXT_FUNCTIONS;

  bool RunOnDevice() override {
    // One specialization for each device.
    CAFFE_NOT_IMPLEMENTED;
  }

 protected:
  float scale_;
  int offset_;
  Tensor<Context> buffer_;
  Tensor<CPUContext> host_;
};

template <typename T, class Context>
class TemplatedAffineGradientOp final : public Operator<Context> {
 public:
  USE_SIMPLE_CTOR_DTOR(TemplatedAffineGradientOp);
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  bool RunOnDevice() override;
};

}  // namespace caffe2
