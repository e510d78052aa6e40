// LengthsSplit: splits each length into n_split lengths that differ by 1 at most, longer ones
// first.
//   LENGTHS int32 [S], (optional) n_split int32 or int64 [1]  ->  int32 [S * n_split]
#include <algorithm>
#include <vector>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/element_type.h"
#include "operators/common/inference.h"

namespace caffe2rt {
namespace {

constexpr ArgumentSpec<int> kLengthsSplits{
    "n_split",
    1,
    "the parts of each length, above 0; must be given unless input 1 is",
    {[](int n) { return n > 0; }, "above 0"}};

class LengthsSplitOp final : public Operator<CPUContext> {
 public:
  LengthsSplitOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), parts_(ReadArgument(kLengthsSplits)) {
    CAFFE_ENFORCE(InputSize() > 1 || HasArgument(kLengthsSplits),
                  "argument n_split is missing, want it or input 1 (n_split)");
  }

  bool RunOnDevice() override {
    const Tensor& lengths = Input(0);
    CAFFE_ENFORCE_EQ(lengths.dim(), 1, "rank of input 0 (LENGTHS) of shape ", lengths.sizes());
    RequireElements<int32_t>(lengths);
    const int64_t parts = InputSize() > 1 ? ReadParts(Input(1)) : parts_;
    const int32_t* const length = lengths.data<int32_t>();
    for (int64_t s = 0; s < lengths.numel(); ++s)
      CAFFE_ENFORCE_GE(length[s], 0, "element ", s, " of input 0 (LENGTHS), want at least 0");
    int32_t* y = OutputData<int32_t>(0, {CheckedMultiply(lengths.numel(), parts)});
    for (int64_t s = 0; s < lengths.numel(); ++s) {
      const auto shorter = static_cast<int32_t>(length[s] / parts);
      const int64_t longer = length[s] % parts;
      y = std::fill_n(y, longer, shorter + 1);
      y = std::fill_n(y, parts - longer, shorter);
    }
    return true;
  }

 private:
  static int64_t ReadParts(const Tensor& input) {
    CAFFE_ENFORCE(input.dim() == 1 && input.numel() == 1, "input 1 (n_split) has shape ",
                  input.sizes(), ", want [1]");
    return DispatchByType<int32_t, int64_t>(input.dtype(), "input 1 (n_split)", [&](auto number) {
      const int64_t parts = *input.data<decltype(number)>();
      CAFFE_ENFORCE_GT(parts, 0, "input 1 (n_split)");
      return parts;
    });
  }

  const int64_t parts_;
};

}  // namespace

void RegisterLengthsSplit() {
  RegisterSchema("LengthsSplit", __FILE__)
      .NumInputs(1, 2)
      .NumOutputs(1)
      .Arg(kLengthsSplits)
      .Input(0, "LENGTHS", "[S] int32, at least 0")
      .Input(1, "n_split", "(optional) [1] int32 or int64: replaces the argument")
      .Output(0, "Y", "[S * n_split] int32: the parts of each length, longer ones first")
      .TypesOfInput(0, {.accepted = {TensorProto::INT32}})
      .TypesOfInput(1, {.accepted = {TensorProto::INT32, TensorProto::INT64}})
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        const ArgumentHelper args(def);
        if (def.input_size() > 1 || !args.HasArgument(kLengthsSplits) || !AreKnown(in, 1) ||
            in[0].dims_size() != 1)
          return std::vector<TensorShape>{UnknownShapeOf(TensorProto::INT32)};
        const std::vector<int64_t> dims = {
            CheckedMultiply<int64_t>(in[0].dims(0), args.Read(kLengthsSplits))};
        return std::vector<TensorShape>{CreateTensorShape(dims, TensorProto::INT32)};
      })
      .SetDoc("Splits each length into lengths that differ by 1 at most.");
  RegisterCpuOperator<LengthsSplitOp>("LengthsSplit", __FILE__);
  RegisterGradient<GradientNotImplementedYet>("LengthsSplit", __FILE__);  // as in Caffe2
}

}  // namespace caffe2rt
