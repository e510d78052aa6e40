#include "operators/shape/nchw2nhwc.h"

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/inference.h"

namespace caffe2rt {

void SwitchedDims(IntArrayRef input, bool to_end, std::vector<int64_t>* dims) {
  CAFFE_ENFORCE_GE(input.size(), size_t{3}, "rank of input 0, want at least 3");
  dims->assign(1, input[0]);
  if (!to_end) dims->push_back(input[input.size() - 1]);
  dims->insert(dims->end(), input.begin() + (to_end ? 2 : 1), input.end() - (to_end ? 0 : 1));
  if (to_end) dims->push_back(input[1]);
}

namespace {

template <bool kToEnd>
class GetSwitchGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    return SingleGradientDef(kToEnd ? "NHWC2NCHW" : "NCHW2NHWC", "", {GO(0)}, {GI(0)});
  }
};

template <bool kToEnd>
void RegisterSwitch(const std::string& type, const char* from, const char* to, const char* doc) {
  RegisterSchema(type, __FILE__)
      .NumInputs(1)
      .NumOutputs(1)
      .Input(0, "data", from)
      .Output(0, "output", to)
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        if (!AreKnown(in, 1)) return UnknownOutputs(def);
        std::vector<int64_t> dims;
        SwitchedDims(GetDimsVector(in[0]), kToEnd, &dims);
        return std::vector<TensorShape>{CreateTensorShape(dims, TensorProto_DataType_FLOAT)};
      })
      .Traits({.family = OperatorFamily::kShape})
      .SetDoc(doc);
  RegisterCpuOperator<OrderSwitchOp<CPUContext, kToEnd>>(type, __FILE__);
  RegisterGradient<GetSwitchGradient<kToEnd>>(type, __FILE__);
}

}  // namespace

void RegisterNchw2nhwc() {
  RegisterSwitch<true>("NCHW2NHWC", "[N, C, *] float", "[N, *, C]",
                       "Moves the channels from dimension 1 to the end.");
  RegisterSwitch<false>("NHWC2NCHW", "[N, *, C] float", "[N, C, *]",
                        "Moves the channels from the end to dimension 1.");
}

}  // namespace caffe2rt
