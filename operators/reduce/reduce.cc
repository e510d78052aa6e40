#include "operators/reduce/reduce.h"

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/inference.h"

namespace caffe2rt {

void MarkAxes(const std::vector<int>& axes, size_t rank, std::vector<char>* reduced) {
  reduced->assign(rank, axes.empty());
  const int64_t size = static_cast<int64_t>(rank);
  for (const int axis : axes) {
    CAFFE_ENFORCE(axis >= -size && axis < size, "argument axes contains ", axis, ", want ", -size,
                  " to ", size - 1, " for an input of rank ", size);
    (*reduced)[static_cast<size_t>(axis < 0 ? axis + size : axis)] = 1;
  }
}

void ReducedDims(IntArrayRef dims, const std::vector<char>& reduced, bool keep,
                 std::vector<int64_t>* result) {
  result->clear();
  for (size_t i = 0; i < dims.size(); ++i) {
    if (!reduced[i]) {
      result->push_back(dims[i]);
    } else if (keep) {
      result->push_back(1);
    }
  }
}

namespace {

std::vector<TensorShape> InferReduce(const OperatorDef& def, const std::vector<TensorShape>& in) {
  if (!AreKnown(in, 1) || in.size() > 1) {  // the values of axes that are an input are not known
    std::vector<TensorShape> out = UnknownOutputs(def);
    if (!in.empty() && in[0].has_data_type()) out[0].set_data_type(in[0].data_type());
    return out;
  }
  const ArgumentHelper args(def);
  const std::vector<int64_t> dims = GetDimsVector(in[0]);
  std::vector<char> reduced;
  std::vector<int64_t> result;
  const std::vector<int> axes = args.Read(kReduceAxes);
  if (axes.empty() && args.Read(kReduceNoop)) {
    reduced.assign(dims.size(), 0);
  } else {
    MarkAxes(axes, dims.size(), &reduced);
  }
  ReducedDims(dims, reduced, args.Read(kReduceKeepDims) != 0, &result);
  return {CreateTensorShape(result, in[0].data_type())};
}

// ReduceSum has ReduceSumGradient, and so on.
class GetReduceGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    CAFFE_ENFORCE(def_.input_size() == 1 && !ArgumentHelper(def_).Read(kReduceNoop),
                  "the gradient of ", def_.type(),
                  " needs the argument axes: input 1 (axes) and "
                  "noop_with_empty_axes have none");
    return SingleGradientDef(def_.type() + "Gradient", "", {GO(0), I(0), O(0)}, {GI(0)});
  }
};

template <class Accumulate, class... Types>
void RegisterReduction(const char* type, const char* doc) {
  OpSchema& schema = DeclareReduce(RegisterSchema(type, __FILE__)).SetDoc(doc);
  if (Accumulate::kNumbers == NumberReduction::kMax ||
      Accumulate::kNumbers == NumberReduction::kMin) {
    schema.Arg(kReduceInfinite);
  }
  RegisterCpuOperator<ReduceOp<CPUContext, Accumulate, Types...>>(type, __FILE__);
  RegisterGradient<GetReduceGradient>(type, __FILE__);

  const std::string gradient = MakeString(type, "Gradient");
  RegisterSchema(gradient, __FILE__)
      .NumInputs(3)
      .NumOutputs(1)
      .Args(kReduceAxes, kReduceKeepDims)
      .Input(0, "dY", "the gradient of Y")
      .Input(1, "X", "the input of the reduction")
      .Input(2, "Y", "the output of the reduction")
      .Output(0, "dX", "the gradient of X")
      .IdenticalTypeAndShapeOfInput(1)
      .CostInferenceFunction(PointwiseCostInference<2>)
      .SetDoc(MakeString("Computes the gradient of ", type, "."));
  RegisterCpuOperator<ReduceGradientOp<CPUContext, Accumulate, Types...>>(gradient, __FILE__);
}

}  // namespace

OpSchema& DeclareReduce(OpSchema& schema) {
  return schema.NumInputs(1, 2)
      .NumOutputs(1)
      .Args(kReduceAxes, kReduceKeepDims, kReduceNoop)
      .Input(0, "X", "input, of any shape")
      .Input(1, "axes", "int64: the dimensions to reduce, in place of the argument")
      .Output(0, "Y",
              "the shape of X where the reduced dimensions are 1, or removed with keepdims 0")
      .TensorInferenceFunction(InferReduce)
      .CostInferenceFunction(PointwiseCostInference<1>);
}

void RegisterReduce() {
  RegisterReduction<SumOf, float, double, int32_t, int64_t>(
      "ReduceSum", "Computes the sum of the elements over the given dimensions.");
  RegisterReduction<MeanOf, float>(
      "ReduceMean",
      "Computes the mean of the elements over the given dimensions; 0 if there are no elements.");
  RegisterReduction<MaxOf, float, double, int32_t, int64_t>(
      "ReduceMax",
      "Computes the largest element over the given dimensions; the lowest finite number if there "
      "are no elements.");
  RegisterReduction<MinOf, float, double, int32_t, int64_t>(
      "ReduceMin",
      "Computes the smallest element over the given dimensions; the highest finite number if there "
      "are no elements.");
  RegisterReduction<SumOfSizes, float>(
      "ReduceL1", "Computes the L1 norm, the sum of |x|, over the given dimensions.");
  RegisterReduction<RootOfSumOfSquares, float>(
      "ReduceL2",
      "Computes the L2 norm, the square root of the sum of x * x, over the given dimensions.");
}

}  // namespace caffe2rt
