#include "operators/shape/concat.h"

#include <algorithm>

#include "caffe2_core/graph/device_inference.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/inference.h"
#include "operators/common/onednn_argument.h"

namespace caffe2rt {

void ConcatShape::First(IntArrayRef input, JoinAxis join) {
  add_axis_ = join.add_axis;
  first_.assign(input.begin(), input.end());
  dims_.assign(input.begin(), input.end());
  const int rank = static_cast<int>(input.size()) + (add_axis_ ? 1 : 0);
  axis_ = canonical_axis_index_(join.axis, rank);
  if (add_axis_) dims_.insert(dims_.begin() + axis_, 1);
}

void ConcatShape::Next(IntArrayRef input, int position) {
  // As in Caffe2, trailing dimensions of 1 beyond the rank of the first input are ignored.
  bool fits = input.size() >= first_.size();
  for (size_t i = 0; fits && i < input.size(); ++i) {
    const bool joined = !add_axis_ && i == static_cast<size_t>(axis_);
    fits = joined || input[i] == (i < first_.size() ? first_[i] : 1);
  }
  CAFFE_ENFORCE(fits, "input ", position, " has shape ", input, ", want ", IntArrayRef(first_),
                " as input 0", add_axis_ ? "" : " except for dim ",
                add_axis_ ? "" : MakeString(axis_));
  int64_t& total = dims_[static_cast<size_t>(axis_)];
  total = CheckedAdd(total, Share(input));
}

namespace {

std::vector<TensorShape> InferConcat(const OperatorDef& def, const std::vector<TensorShape>& in) {
  const JoinAxis join = ReadJoinAxis(ArgumentHelper(def));
  const std::vector<int64_t> shares = {static_cast<int64_t>(in.size())};
  const TensorShape split_info = CreateTensorShape(shares, TensorProto_DataType_INT32);
  if (in.empty() || !AreKnown(in, in.size())) return {UnknownShape(), split_info};
  ConcatShape shape;
  shape.First(GetDimsVector(in[0]), join);
  for (size_t i = 1; i < in.size(); ++i) shape.Next(GetDimsVector(in[i]), static_cast<int>(i));
  return {CreateTensorShape(shape.dims(), in[0].data_type()), split_info};
}

std::vector<MemoryTraits::Part> PartsOfConcat(const OperatorDef& def,
                                              const std::vector<TensorShape>& in,
                                              const std::vector<TensorShape>& out) {
  if (out.empty()) return {};
  return PlacesOfParts(def, out[0], in, ReadJoinAxis(ArgumentHelper(def)));
}

// Splits the gradient into the sizes that split_info holds.
class GetConcatGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    if (GradOut(0).IsEmpty()) return {};
    std::vector<std::string> pieces;
    for (int i = 0; i < def_.input_size(); ++i) pieces.push_back(GI(i));
    return SingleGradientDef("Split", "", {GO(0), O(1)}, pieces);
  }
};

PassesOn PassesOnOneInput(const OperatorDef& def) {
  return ArgumentHelper(def).Read(kAddAxis) == 0 ? PassesOn::kAlways : PassesOn::kNever;
}

void RegisterConcatAs(const std::string& type, const OperatorTraits& traits) {
  OpSchema& schema = RegisterSchema(type, __FILE__);
  schema.NumInputs(1, INT_MAX)
      .NumOutputs(2)
      .Args(kJoinAxis, kJoinOrder, kAddAxis, kOutputPrecision, kBlockedInputs)
      .Input(0, "X1, X2, ...",
             "tensors of the same type and shape, except for the size of the dimension axis")
      .Output(0, "concat_result", "concatenation of the inputs")
      .Output(1, "split_info", "int32: size of each input along the dimension, as Split expects it")
      .DeviceInferenceFunction(OnCPU({}, {1}))
      .TensorInferenceFunction(InferConcat)
      .CostInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        return MoveCost(in, InferConcat(def, in));
      })
      .Traits(traits)
      .Memory({.input_parts = PartsOfConcat})
      .SetDoc(
          "Concatenates tensors along one dimension. With add_axis, stacks them along a new "
          "dimension.");
  if (type == "Concat") schema.InheritOnnxSchema();
  RegisterCpuOperator<ConcatOp<CPUContext>>(type, __FILE__);
  RegisterGradient<GetConcatGradient>(type, __FILE__);
}

}  // namespace

void RegisterConcat() {
  RegisterConcatAs("Concat", {.family = OperatorFamily::kShape,
                              .passes_on = PassesOnOneInput,
                              .onednn = {.role = OnednnRole::kAnyLayout,
                                         .arguments = OnednnArguments::kChannelAxis,
                                         .same_rank = true}});
  RegisterConcatAs("DepthConcat", {.family = OperatorFamily::kShape});
}

}  // namespace caffe2rt
