#pragma once
// RowwiseMax  X [N, R, C] -> [N, R]: the largest element of each row of N matrices.
// ColwiseMax  X [N, R, C] -> [N, C]: the largest element of each column of N matrices.
// ReduceTailSum  X [N, *] -> [N]: the sum over all dimensions but the first.
// RowwiseMaxGradient, ColwiseMaxGradient  X, Y, dY -> dX [N, R, C]
// They support float only.

#include <vector>

#include "caffe2_core/runtime/operator.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/reduce/accumulate.h"
#include "operators/reduce/reduce_plan.h"
#include "operators/reduce/reduction_gradient.h"

namespace caffe2rt {

template <class Context, bool kRows>
class MatrixMaxOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  MatrixMaxOp(const OperatorDef& def, Workspace* ws) : Operator<Context>(def, ws) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const float* x = X.data<float>();
    CAFFE_ENFORCE_EQ(X.dim(), 3, "rank of input 0 (X) of shape ", X.sizes());
    plan_.Make(X.sizes(), reduced_);
    CAFFE_ENFORCE(plan_.output_size() == 0 || plan_.reduced_size() > 0, "input 0 (X) has shape ",
                  X.sizes(), ", want at least one element in each row or column");
    float* y = this->template OutputData<float>(0, {X.dim(0), X.dim(kRows ? 1 : 2)});
    Reduce<MaxOf>(context_, plan_, x, y, &scratch_);
    return true;
  }

 private:
  const std::vector<char> reduced_ = {0, !kRows, kRows};
  ReducePlan plan_;
  Tensor scratch_{Context::GetDeviceType()};
};

template <class Context, bool kRows>
class MatrixMaxGradientOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  MatrixMaxGradientOp(const OperatorDef& def, Workspace* ws) : Operator<Context>(def, ws) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    CAFFE_ENFORCE_EQ(X.dim(), 3, "rank of input 0 (X) of shape ", X.sizes());
    plan_.Make(X.sizes(), reduced_);
    const float* x = X.data<float>();
    const float* y = OutputSized(1, "Y");
    const float* dy = OutputSized(2, "dY");
    float* dx = this->template OutputData<float>(0, X.sizes());
    ReduceGradient<MaxOf>(context_, plan_, dy, x, y, dx);
    return true;
  }

 private:
  const float* OutputSized(int i, const char* name) {
    const Tensor& tensor = Input(i);
    CAFFE_ENFORCE_EQ(tensor.numel(), plan_.output_size(), "elements of input ", i, " (", name,
                     ") of shape ", tensor.sizes(), ", want one for each output");
    return tensor.data<float>();
  }

  const std::vector<char> reduced_ = {0, !kRows, kRows};
  ReducePlan plan_;
};

template <class Context>
class ReduceTailSumOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  ReduceTailSumOp(const OperatorDef& def, Workspace* ws) : Operator<Context>(def, ws) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const float* x = X.data<float>();
    CAFFE_ENFORCE_GE(X.dim(), 1, "rank of input 0 (X)");
    const int64_t dims[] = {X.dim(0), X.size_from_dim(1)};
    plan_.Make(dims, reduced_);
    Reduce<SumOf>(context_, plan_, x, this->template OutputData<float>(0, {dims[0]}), &scratch_);
    return true;
  }

 private:
  const std::vector<char> reduced_ = {0, 1};
  ReducePlan plan_;
  Tensor scratch_{Context::GetDeviceType()};
};

}  // namespace caffe2rt
