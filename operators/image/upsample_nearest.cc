#include "operators/image/upsample_nearest.h"

#include <string>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/inference.h"

namespace caffe2rt {

namespace {

std::vector<TensorShape> InferUpsampleNearest(const OperatorDef& def,
                                              const std::vector<TensorShape>& in) {
  if (!AreKnown(in, 1)) return UnknownOutputs(def);
  std::vector<int64_t> dims = GetDimsVector(in[0]);
  CAFFE_ENFORCE_GE(dims.size(), 3u, "rank of input 0 (X), want at least 3");
  const int64_t scale = ArgumentHelper(def).Read(kUpsampleScale);
  for (size_t i = dims.size() - 2; i < dims.size(); ++i) dims[i] = CheckedMultiply(dims[i], scale);
  return {CreateTensorShape(dims, in[0].data_type())};
}

class GetUpsampleNearestGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    return SingleGradientDef("UpsampleNearestGradient", "", std::vector<std::string>{I(0), GO(0)},
                             std::vector<std::string>{GI(0)});
  }
};

}  // namespace

void UpsampledDims(IntArrayRef x, int64_t scale, std::vector<int64_t>* dims) {
  CAFFE_ENFORCE_GE(x.size(), 3u, "rank of input 0 (X) of shape ", x, ", want at least 3");
  dims->assign(x.begin(), x.end());
  for (size_t i = x.size() - 2; i < x.size(); ++i) {
    (*dims)[i] = CheckedMultiply(x[i], scale);
    CAFFE_ENFORCE(std::in_range<int32_t>((*dims)[i]), "dim ", i, " of the output has size ",
                  (*dims)[i], ", want at most 2147483647");
  }
}

void RegisterUpsampleNearest() {
  RegisterSchema("UpsampleNearest", __FILE__)
      .NumInputs(1)
      .NumOutputs(1)
      .Arg(kUpsampleScale)
      .Input(0, "X", "[*, H, W]")
      .Output(0, "Y", "[*, H * scale, W * scale]")
      .TensorInferenceFunction(InferUpsampleNearest)
      .Traits({.family = OperatorFamily::kShape, .onednn = {OnednnRole::kAnyLayout}})
      .SetDoc(
          "Enlarges images by an integer factor: each pixel is repeated scale times in both "
          "directions.");
  RegisterCpuOperator<UpsampleNearestOp<CPUContext>>("UpsampleNearest", __FILE__);

  RegisterSchema("UpsampleNearestGradient", __FILE__)
      .NumInputs(2)
      .NumOutputs(1)
      .Arg(kUpsampleScale)
      .Input(0, "X", "the input of UpsampleNearest; only its shape is used")
      .Input(1, "dY", "the gradient of its output")
      .Output(0, "dX", "the gradient of X")
      .IdenticalTypeAndShapeOfInput(0)
      .SetDoc("The gradient of UpsampleNearest: the sum over the copies of each pixel.");
  RegisterCpuOperator<UpsampleNearestGradientOp<CPUContext>>("UpsampleNearestGradient", __FILE__);
  RegisterGradient<GetUpsampleNearestGradient>("UpsampleNearest", __FILE__);
}

}  // namespace caffe2rt
