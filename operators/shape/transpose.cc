#include "operators/shape/transpose.h"

#include <numeric>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/inference.h"

namespace caffe2rt {

bool IsPermutation(const std::vector<int>& axes) {
  std::vector<bool> seen(axes.size());
  for (const int axis : axes) {
    if (axis < 0 || static_cast<size_t>(axis) >= axes.size()) return false;
    if (seen[static_cast<size_t>(axis)]) return false;
    seen[static_cast<size_t>(axis)] = true;
  }
  return true;
}

void TransposedDims(IntArrayRef input, std::vector<int>* axes, std::vector<int64_t>* dims) {
  if (axes->empty()) {
    axes->resize(input.size());
    std::iota(axes->rbegin(), axes->rend(), 0);
  }
  CAFFE_ENFORCE_EQ(axes->size(), input.size(),
                   "elements of argument axes, want the rank of input 0 of shape ", input);
  dims->clear();
  for (const int axis : *axes) dims->push_back(input[static_cast<size_t>(axis)]);
}

namespace {

std::vector<TensorShape> InferTranspose(const OperatorDef& def,
                                        const std::vector<TensorShape>& in) {
  if (!AreKnown(in, 1)) return UnknownOutputs(def);
  std::vector<int> axes = ArgumentHelper(def).Read(kTransposeAxes);
  std::vector<int64_t> dims;
  TransposedDims(GetDimsVector(in[0]), &axes, &dims);
  return {CreateTensorShape(dims, in[0].data_type())};
}

// Transposes by the inverse permutation. Axes that are not a permutation give a Transpose that throws
// like the forward one.
class GetTransposeGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;
  bool CopyArguments() const override { return false; }

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    std::vector<OperatorDef> ops = SingleGradientDef("Transpose", "", {GO(0)}, {GI(0)});
    *ops[0].mutable_arg() = def_.arg();
    for (Argument& arg : *ops[0].mutable_arg()) {
      if (arg.name() != kTransposeAxes.name) continue;
      const Argument axes = arg;
      for (int i = 0; i < axes.ints_size(); ++i) {
        const int64_t axis = axes.ints(i);
        if (axis >= 0 && axis < axes.ints_size()) arg.set_ints(static_cast<int>(axis), i);
      }
    }
    return ops;
  }
};

}  // namespace

void RegisterTranspose() {
  RegisterSchema("Transpose", __FILE__)
      .NumInputs(1)
      .NumOutputs(1)
      .Arg(kTransposeAxes)
      .Input(0, "X", "float, double, int32 or int64")
      .Output(0, "Y", "dim i is dim axes[i] of X")
      .TensorInferenceFunction(InferTranspose)
      .CostInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        return MoveCost(in, InferTranspose(def, in));
      })
      .InheritOnnxSchema()
      .Traits({.family = OperatorFamily::kShape})
      .SetDoc("Permutes the dimensions of a tensor.");
  RegisterCpuOperator<TransposeOp<CPUContext>>("Transpose", __FILE__);
  RegisterGradient<GetTransposeGradient>("Transpose", __FILE__);
}

}  // namespace caffe2rt
