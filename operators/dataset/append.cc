// Append: appends rows to a tensor, in place.
//   A [N, ...], B [M, ...]  ->  A [N + M, ...]
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/inference.h"
#include "operators/dataset/append_rows.h"

namespace caffe2rt {
namespace {

class AppendOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;

  bool RunOnDevice() override {
    CheckRowsToAppend(Input(0), 0, Input(1), 1);
    AppendRows(context_, Input(1), Output(0));
    return true;
  }
};

}  // namespace

void RegisterAppend() {
  RegisterSchema("Append", __FILE__)
      .NumInputs(2)
      .NumOutputs(1)
      .EnforceInplace({{0, 0}})
      .Input(0, "dataset", "[N, ...], elements of any type")
      .Input(1, "new_data", "[M, ...], the same type and dims, except for dimension 0")
      .Output(0, "dataset", "[N + M, ...], in place: the rows of both")
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        return UnknownOutputsOfInputType(def, in);
      })
      .SetDoc(
          "Appends rows to a tensor. A tensor without rows becomes a copy of them, also of another "
          "type and other dims.");
  RegisterCpuOperator<AppendOp>("Append", __FILE__);
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("Append", __FILE__);  // as in Caffe2
}

}  // namespace caffe2rt
