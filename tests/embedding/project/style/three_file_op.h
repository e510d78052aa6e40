#pragma once
// An operator in Caffe2's usual three files: this header, a .cc with the CPU specialization, and a
// .cu, which is left out here.
#include "caffe2/core/context.h"
#include "caffe2/core/operator.h"

namespace caffe2 {

template <typename T, class Context>
class EmbeddingAffineOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  EmbeddingAffineOp(const OperatorDef& operator_def, Workspace* ws)
      : Operator<Context>(operator_def, ws),
        scale_(OperatorBase::GetSingleArgument<float>("scale", 1.)),
        OP_SINGLE_ARG(int, "offset", offset_, 0) {
    CAFFE_ENFORCE_GE(offset_, 0);
  }
  ~EmbeddingAffineOp() {}

  bool RunOnDevice() override { CAFFE_NOT_IMPLEMENTED; }

 protected:
  float scale_;
  int offset_;
  Tensor buf_{CPU};
  INPUT_TAGS(DATA);
};

template <typename T, class Context>
class EmbeddingAffineGradientOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  USE_SIMPLE_CTOR_DTOR(EmbeddingAffineGradientOp);
  bool RunOnDevice() override;
};

}  // namespace caffe2
