// ONNXMax, ONNXMin: the largest or smallest of one or more tensors of numbers of one type, element by
// element, with numpy's broadcasting. NaN in any of them gives NaN. Max and Min are Caffe2's, which do
// not broadcast and ignore some NaNs.

#include <vector>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/broadcast.h"
#include "operators/common/element_type.h"
#include "operators/numeric/number_schema.h"
#include "operators/numeric/numbers.h"

namespace caffe2rt {

namespace {

template <bool kMax>
class OnnxMaxOp final : public Operator<CPUContext> {
 public:
  OnnxMaxOp(const OperatorDef& def, Workspace* ws) : Operator<CPUContext>(def, ws) {}

  bool RunOnDevice() override {
    return DispatchNumber(Input(0).dtype(), "input 0", [&](auto element) {
      using T = decltype(element);
      dims_ = Input(0).dims();
      for (int i = 1; i < InputSize(); ++i) {
        RequireElements<T>(Input(i));
        plan_.Make(dims_, Input(i).sizes(), BroadcastArguments());
        dims_ = plan_.output_dims();
      }
      T* y = OutputData<T>(0, dims_);
      if (Output(0)->numel() == 0) return true;
      plan_.Make(dims_, Input(0).sizes(), BroadcastArguments());
      ZipNumbers(plan_.loops(), y, Input(0).template data<T>(), y, [](T, T x) { return x; });
      for (int i = 1; i < InputSize(); ++i) {
        plan_.Make(dims_, Input(i).sizes(), BroadcastArguments());
        ZipNumbers(plan_.loops(), y, Input(i).template data<T>(), y, [](T a, T b) {
          const bool first = kMax ? a > b : a < b;
          return first || a != a ? a : b;
        });
      }
      return true;
    });
  }

 private:
  std::vector<int64_t> dims_;
  BroadcastPlan plan_;
};

// Each input has the gradient where it equals Y, summed over what was broadcast.
class GetOnnxExtremeGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    const std::string zero = GI(0) + "_zero";
    std::vector<OperatorDef> ops = {CreateOperatorDef("ConstantFill", "", {}, {zero}, {})};
    for (int i = 0; i < def_.input_size(); ++i) {
      const std::string chosen = GI(i) + "_chosen", whole = GI(i) + "_before_sum";
      ops.push_back(CreateOperatorDef("EQ", "", {I(i), O(0)}, {chosen}));
      ops.push_back(CreateOperatorDef("ONNXWhere", "", {chosen, GO(0), zero}, {whole}));
      ops.push_back(CreateOperatorDef("SumReduceLike", "", {whole, I(i)}, {GI(i)},
                                      {MakeArgument("numpy", 1)}));
    }
    return ops;
  }
};

template <bool kMax>
void RegisterOnnxExtreme(const char* type, const char* doc) {
  RegisterSchema(type, __FILE__)
      .NumInputs(1, INT_MAX)
      .NumOutputs(1)
      .Input(0, "X0, X1, ...", "numbers of one type; broadcast by numpy's rules")
      .Output(0, "Y", "the type of the inputs")
      .TensorInferenceFunction(InferBroadcastOfAll)
      .CostInferenceFunction(PointwiseCostInference<1>)
      .Traits({.family = OperatorFamily::kElementwise})
      .SetDoc(doc);
  RegisterCpuOperator<OnnxMaxOp<kMax>>(type, __FILE__);
  RegisterGradient<GetOnnxExtremeGradient>(type, __FILE__);
}

}  // namespace

void RegisterOnnxMax() {
  RegisterOnnxExtreme<true>("ONNXMax", "Y = the largest of X0, X1, ..., as ONNX's Max; or NaN.");
  RegisterOnnxExtreme<false>("ONNXMin", "Y = the smallest of X0, X1, ..., as ONNX's Min; or NaN.");
}

}  // namespace caffe2rt
