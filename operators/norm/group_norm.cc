#include "operators/norm/group_norm.h"

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/inference.h"

namespace caffe2rt {

namespace {

// Accepted for compatibility; ignored.
constexpr ArgumentSpec<int> kGroupNormNumGroups{"num_groups", 32, "has no effect; use group"};
constexpr ArgumentSpec<int> kGroupNormIsTest{"is_test", 0, "has no effect"};

std::vector<TensorShape> InferGroupNorm(const OperatorDef& def,
                                        const std::vector<TensorShape>& in) {
  if (!AreKnown(in, 1)) return UnknownOutputs(def);
  CAFFE_ENFORCE_GE(in[0].dims_size(), 2, "rank of input 0 (X), want at least 2");
  const int64_t group = ArgumentHelper(def).Read(kGroupNormGroup);
  const StorageOrder order = ReadStorageOrder(ArgumentHelper(def));
  const int64_t channels = in[0].dims(order == StorageOrder::NHWC ? in[0].dims_size() - 1 : 1);
  CAFFE_ENFORCE_EQ(channels % group, 0, "remainder of the ", channels,
                   " channels of input 0 (X) divided by argument group ", group);
  std::vector<TensorShape> out{in[0]};
  out.resize(static_cast<size_t>(def.output_size()),
             CreateTensorShape(std::vector<int64_t>{in[0].dims(0), group}, TensorProto::FLOAT));
  return out;
}

std::vector<TensorShape> InferGroupNormGradient(const OperatorDef& def,
                                                const std::vector<TensorShape>& in) {
  if (!AreKnown(in, 4)) return UnknownOutputs(def);
  return {in[1], in[2], in[3]};
}

class GetGroupNormGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    return SingleGradientDef("GroupNormGradient", "",
                             std::vector<std::string>{GO(0), I(0), I(1), I(2), O(1), O(2)},
                             std::vector<std::string>{GI(0), GI(1), GI(2)});
  }
};

}  // namespace

void RegisterGroupNorm() {
  RegisterSchema("GroupNorm", __FILE__)
      .NumInputs(3)
      .NumOutputs({1, 3})
      .Args(kGroupNormGroup, kGroupNormEpsilon, kStorageOrder, kGroupNormNumGroups,
            kGroupNormIsTest)
      .Input(0, "X", "[N, C, *] or [N, *, C]")
      .Input(1, "gamma", "scale of each channel, [C]")
      .Input(2, "beta", "bias of each channel, [C]")
      .Output(0, "Y", "the shape of X")
      .Output(1, "mean", "optional mean of each group, [N, group]")
      .Output(2, "inv_std", "optional 1 / sqrt(variance + epsilon) of each group, [N, group]")
      .TensorInferenceFunction(InferGroupNorm)
      .CostInferenceFunction(PointwiseCostInference<6>)
      .SetDoc(
          "Group normalization: (x - mean) / sqrt(var + epsilon) * gamma + beta, where mean and "
          "biased variance are computed over each group of channels of each image.");
  RegisterCpuOperator<GroupNormOp<CPUContext>>("GroupNorm", __FILE__);

  RegisterSchema("GroupNormGradient", __FILE__)
      .NumInputs(6)
      .NumOutputs(3)
      .Args(kGroupNormGroup, kGroupNormEpsilon, kStorageOrder, kGroupNormNumGroups,
            kGroupNormIsTest)
      .Input(0, "dY", "gradient of Y")
      .Input(1, "X", "input of GroupNorm")
      .Input(2, "gamma", "scale of each channel, [C]")
      .Input(3, "beta", "bias of each channel, [C]; only its shape is used")
      .Input(4, "mean", "mean of each group, [N, group]")
      .Input(5, "inv_std", "1 / sqrt(variance + epsilon) of each group, [N, group]")
      .Output(0, "dX", "gradient of X")
      .Output(1, "dgamma", "gradient of gamma")
      .Output(2, "dbeta", "gradient of beta")
      .TensorInferenceFunction(InferGroupNormGradient)
      .CostInferenceFunction(PointwiseCostInference<10>)
      .SetDoc("Computes the gradients of GroupNorm. GroupNorm must have all three outputs.");
  RegisterCpuOperator<GroupNormGradientOp<CPUContext>>("GroupNormGradient", __FILE__);
  RegisterGradient<GetGroupNormGradient>("GroupNorm", __FILE__);
}

}  // namespace caffe2rt
