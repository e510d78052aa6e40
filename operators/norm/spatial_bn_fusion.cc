// SpatialBNFusion: SpatialBN in test mode and an activation in one operator. Graph passes make it.

#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/fused_activation.h"
#include "operators/common/inference.h"
#include "operators/common/onednn_argument.h"
#include "operators/norm/spatial_bn.h"
#include "operators/primitives/parallel_ranges.h"

namespace caffe2rt {

namespace {

// Applies the activation to what NativeBatchNorm computes.
class ActivatedBatchNorm {
 public:
  explicit ActivatedBatchNorm(const OperatorBase& op) : activation_(ReadActivation(op.args())) {}

  void operator()(CPUContext& context, const Channels& shape, const BatchNormTest& parameters,
                  const float* x, float* y) {
    NormalizeBatch(context, shape, parameters, x, &scratch_, y);
    ParallelElements(shape.batch * shape.count * shape.positions, [&](int64_t first, int64_t last) {
      FinishRows(nullptr, activation_, 1, last - first, y + first, last - first);
    });
  }
  void operator()(CPUContext&, const Channels&, const BatchNormTraining&, const float*, float*) {
    CAFFE_THROW("argument is_test is 0, want 1: the operator is for inference");
  }

 private:
  const Activation activation_;
  BatchNormScratch scratch_;
};

}  // namespace

// No gradient: graph passes make this operator from operators that have one.
void RegisterSpatialBnFusion() {
  OpSchema& schema =
      RegisterSchema("SpatialBNFusion", __FILE__)
          .NumInputs(5)
          .NumOutputs(1)
          .AllowInplace({{0, 0}})
          .DeviceInferenceFunction(OnednnWeightsOnCpu({1, 2, 3, 4}))
          .Args(kSpatialBnIsTest, kSpatialBnEpsilon, kSpatialBnMomentum, kSpatialBnNumBatches,
                kStorageOrder, kOutputPrecision, kOutputMin, kOutputMax)
          .Input(0, "X", "[N, C, *] or [N, *, C]")
          .Input(1, "scale", "scale of each channel, [C]")
          .Input(2, "bias", "bias of each channel, [C]")
          .Input(3, "mean", "mean of each channel, [C]")
          .Input(4, "var", "variance of each channel, [C]")
          .Output(0, "Y", "the shape of X")
          .IdenticalTypeAndShapeOfInput(0)
          .CostInferenceFunction(PointwiseCostInference<3>)
          .FloatInputs(5)
          .Traits({.family = OperatorFamily::kNorm,
                   .same_shape = true,
                   .writes_float = true,
                   .onednn = {OnednnRole::kAnyLayout, OnednnArguments::kTestMode}})
          // On IDEEP the elements of Y may have another size than those of X.
          .Memory({.same_blob_in_place = true})
          .SetDoc(
              "SpatialBN in test mode with an activation: f((X - mean) / sqrt(var + epsilon) * "
              "scale + "
              "bias). Graph passes make this operator.");
  DeclareActivation(schema);
  RegisterCpuOperator<SpatialBNOp<CPUContext, ActivatedBatchNorm>>("SpatialBNFusion", __FILE__);
}

}  // namespace caffe2rt
