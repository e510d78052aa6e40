#include "operators/image/upsample_nearest.h"

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

}  // namespace

void RegisterUpsampleNearest() {
  RegisterSchema("UpsampleNearest", __FILE__)
      .NumInputs(1)
      .NumOutputs(1)
      .Arg(kUpsampleScale)
      .Input(0, "X", "[*, H, W]")
      .Output(0, "Y", "[*, H * scale, W * scale]")
      .TensorInferenceFunction(InferUpsampleNearest)
      .SetDoc(
          "Enlarges images by an integer factor: each pixel is repeated scale times in both "
          "directions.");
  RegisterCpuOperator<UpsampleNearestOp<CPUContext>>("UpsampleNearest", __FILE__);
}

}  // namespace caffe2rt
