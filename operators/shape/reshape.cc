#include "operators/shape/reshape.h"

#include "caffe2_core/graph/device_inference.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/inference.h"

namespace caffe2rt {

namespace {

std::vector<TensorShape> InferReshape(const OperatorDef& def, const std::vector<TensorShape>& in) {
  if (!AreKnown(in, 1)) return UnknownOutputs(def);
  const std::vector<int64_t> input = GetDimsVector(in[0]);
  const std::vector<int64_t> rank = {static_cast<int64_t>(input.size())};
  const ArgumentHelper args(def);
  if (def.input_size() == 2) {
    CAFFE_ENFORCE(!args.HasArgument(kNewShape),
                  "argument shape and input 1 are both given: remove one");
    return {UnknownShapeOf(in[0].data_type()),
            CreateTensorShape(
                rank, in[1].has_data_type() ? in[1].data_type() : TensorProto_DataType_INT64)};
  }
  CAFFE_ENFORCE(args.HasArgument(kNewShape),
                "argument shape is missing, and input 1 is not given either");
  std::vector<int64_t> dims = args.Read(kNewShape);
  ReshapedDims(input, &dims, args.Read(kReshapeAllowZero));
  return {CreateTensorShape(dims, in[0].data_type()),
          CreateTensorShape(rank, TensorProto_DataType_INT64)};
}

class GetReshapeGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;
  // The old shape is an input, so that the argument shape must not be copied.
  bool CopyArguments() const override { return false; }

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    const std::string reshaped = GI(0);
    return SingleGradientDef("Reshape", "", {GO(0), O(1)}, {reshaped, "_" + reshaped + "_dims"});
  }
};

}  // namespace

void RegisterReshape() {
  RegisterSchema("Reshape", __FILE__)
      .NumInputs(1, 2)
      .NumOutputs(2)
      .AllowInplace({{0, 0}})
      .Args(kNewShape, kReshapeAllowZero)
      .Input(0, "data", "any tensor")
      .Input(1, "new_shape",
             "(optional) the new shape, a vector of int32 or int64; instead of the argument")
      .Output(0, "reshaped", "the elements of data in the new shape")
      .Output(1, "old_shape", "the old shape of data")
      .TensorInferenceFunction(InferReshape)
      .DeviceInferenceFunction(OnCPU({1}, {1}))
      .InheritOnnxSchema()
      .Traits({.family = OperatorFamily::kShape, .only_changes_shape = true})
      .SetDoc(
          "Changes the shape of a tensor without changing its elements. In the new shape, 0 copies "
          "the dimension at the same position, and one -1 is computed from the others.");
  RegisterCpuOperator<ReshapeOp<CPUContext>>("Reshape", __FILE__);
  RegisterGradient<GetReshapeGradient>("Reshape", __FILE__);
}

}  // namespace caffe2rt
