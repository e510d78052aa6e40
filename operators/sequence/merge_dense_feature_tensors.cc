// MergeDenseFeatureTensors: lists the features that each example has.
//   in1 [E, F], in1_presence bool [E, F]
//     -> out_lengths int32 [E], out_keys int64 [K], out_values [K]
#include <algorithm>
#include <string>
#include <vector>

#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/copy_rows.h"
#include "operators/common/element_type.h"
#include "operators/common/inference.h"

namespace caffe2rt {
namespace {

constexpr RepeatedArgumentSpec<int64_t> kDenseFeatureIds{
    "feature_ids", "the key of each column of in1; must be given", {}, true};

class MergeDenseFeatureTensorsOp final : public Operator<CPUContext> {
 public:
  MergeDenseFeatureTensorsOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), feature_ids_(ReadArgument(kDenseFeatureIds)) {}

  bool RunOnDevice() override {
    const Tensor& values = Input(0);
    const Tensor& presence = Input(1);
    CAFFE_ENFORCE_EQ(values.dim(), 2, "rank of input 0 (in1) of shape ", values.sizes());
    CAFFE_ENFORCE_EQ(values.dim(1), feature_ids_.size(), "dim 1 of input 0 (in1) of shape ",
                     values.sizes(), ", want the values of argument feature_ids");
    CAFFE_ENFORCE_EQ(presence.numel(), values.numel(), "elements of input 1 (in1_presence) of ",
                     "shape ", presence.sizes(), ", want those of input 0 (in1) of shape ",
                     values.sizes());
    RequireElementsOf<bool, int32_t, int64_t, float, double, std::string>(values, "input 0 (in1)");
    RequireElements<bool>(presence);
    const bool* present = presence.data<bool>();
    const int64_t examples = values.dim(0), columns = values.dim(1);
    const int64_t features = std::count(present, present + presence.numel(), true);
    int32_t* const lengths = OutputData<int32_t>(0, {examples});
    int64_t* key = OutputData<int64_t>(1, {features});
    const TypeMeta type = values.dtype();
    Tensor* const merged = Output(2);
    merged->Resize(features);
    void* y = OutputMemory(merged, type);
    const void* x = values.numel() > 0 ? values.raw_data() : nullptr;
    for (int64_t e = 0; e < examples; ++e) {
      lengths[e] = 0;
      for (int64_t i = 0; i < columns; ++i, x = ItemAt(x, type, 1)) {
        if (!*present++) continue;
        ++lengths[e];
        *key++ = feature_ids_[static_cast<size_t>(i)];
        CopyRow(context_, type, 1, x, y);
        y = ItemAt(y, type, 1);
      }
    }
    return true;
  }

 private:
  const std::vector<int64_t> feature_ids_;
};

}  // namespace

void RegisterMergeDenseFeatureTensors() {
  RegisterSchema("MergeDenseFeatureTensors", __FILE__)
      .NumInputs(2)
      .NumOutputs(3)
      .Arg(kDenseFeatureIds)
      .Input(0, "in1", "[E, F]: the values of F features of E examples")
      .Input(1, "in1_presence", "[E, F] bool: which of them an example has")
      .Output(0, "out_lengths", "[E] int32: the number of features of each example")
      .Output(1, "out_keys", "int64: the key of each feature")
      .Output(2, "out_values", "the value of each feature")
      .TypesOfInput(0, {.accepted = {TensorProto::BOOL, TensorProto::INT32, TensorProto::INT64,
                                     TensorProto::FLOAT, TensorProto::DOUBLE, TensorProto::STRING}})
      .TypesOfInput(1, {.accepted = {TensorProto::BOOL}})
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        TensorShape lengths = UnknownShapeOf(TensorProto::INT32);
        if (!in.empty() && IsKnown(in[0]) && in[0].dims_size() == 2)
          lengths = CreateTensorShape(std::vector<int64_t>{in[0].dims(0)}, TensorProto::INT32);
        return std::vector<TensorShape>{lengths, UnknownShapeOf(TensorProto::INT64),
                                        UnknownOutputsOfInputType(def, in)[0]};
      })
      .SetDoc(
          "Lists the features that each example has. Values are bool, int32, int64, float, double "
          "or strings.");
  RegisterCpuOperator<MergeDenseFeatureTensorsOp>("MergeDenseFeatureTensors", __FILE__);
  // As in Caffe2, no gradient maker.
}

}  // namespace caffe2rt
