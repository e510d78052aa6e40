#pragma once
// GroupSpatialSoftmax: softmax over groups of C channels at each position, where C is num_classes.
//   scores [N, A * C, H, W] float  ->  probabilities of the same shape
//
// GroupSpatialSoftmaxGradient: probabilities, their gradient  ->  the gradient of the scores

#include "caffe2_core/runtime/operator.h"
#include "operators/common/order_argument.h"
#include "operators/common/softmax_rows.h"
#include "operators/detectron/detectron_kernels.h"
#include "operators/detectron/input_checks.h"

namespace caffe2rt {

inline constexpr ArgumentSpec<int> kGroupSoftmaxClasses{
    "num_classes",
    81,
    "number of channels in each group",
    {[](int num_classes) { return num_classes > 0; }, "above 0"}};

#pragma GCC visibility push(default)  // for libcaffe2_cuda
// Returns the argument num_classes. THROWS if the order is not NCHW.
int ReadGroupSoftmaxClasses(const ArgumentHelper& args);
#pragma GCC visibility pop

template <class Context>
class GroupSpatialSoftmaxOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  GroupSpatialSoftmaxOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws), classes_(ReadGroupSoftmaxClasses(this->args())) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const ClassGroups groups = ClassGroupsOf(X, "scores", classes_);
    const float* const x = X.template data<float>();
    SoftmaxChannels(context_, groups.groups, groups.classes, groups.positions, x,
                    this->template OutputData<float>(0, X.sizes()));
    return true;
  }

 private:
  const int classes_;
};

template <class Context>
class GroupSpatialSoftmaxGradientOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  GroupSpatialSoftmaxGradientOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws), classes_(ReadGroupSoftmaxClasses(this->args())) {}

  bool RunOnDevice() override {
    const Tensor& Y = Input(0);
    const Tensor& dY = Input(1);
    const ClassGroups groups = ClassGroupsOf(Y, "probabilities", classes_);
    CheckAsManyElements(dY, 1, "d_probabilities", Y, "probabilities");
    const float* const y = Y.template data<float>();
    const float* const dy = dY.template data<float>();
    SoftmaxChannelsGradient(context_, groups.groups, groups.classes, groups.positions, y, dy,
                            this->template OutputData<float>(0, Y.sizes()));
    return true;
  }

 private:
  const int classes_;
};

}  // namespace caffe2rt
