#include "operators/reduce/moments.h"

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/inference.h"

namespace caffe2rt {

namespace {

class MomentsGradientOp final : public Operator<CPUContext> {
 public:
  MomentsGradientOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), axes_(MomentsAxes(args())) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(2);
    const float* const x = X.data<float>();
    MarkAxes(axes_, X.dims().size(), &reduced_);
    plan_.Make(X.sizes(), reduced_);
    const float* const dmean = OfOutputs(0, "dmean");
    const float* const dvariance = OfOutputs(1, "dvariance");
    const float* const mean = OfOutputs(3, "mean");
    float* const dx = OutputData<float>(0, X.sizes());
    if (X.numel() == 0) return true;
    const float share = 1.0f / static_cast<float>(plan_.reduced_size());
    plan_.ForEachElement([&](int64_t i, int64_t k) {
      dx[i] = (dmean[k] + 2 * dvariance[k] * (x[i] - mean[k])) * share;
    });
    return true;
  }

 private:
  // The elements of input `i`. THROWS unless there is one for each mean.
  const float* OfOutputs(int i, const char* name) const {
    const Tensor& tensor = Input(i);
    CAFFE_ENFORCE_EQ(tensor.numel(), plan_.output_size(), "elements of input ", i, " (", name,
                     ") of shape ", tensor.sizes(), ", want one for each mean of input 2 (X)");
    return tensor.data<float>();
  }

  const std::vector<int> axes_;
  std::vector<char> reduced_;
  ReducePlan plan_;
};

std::vector<TensorShape> InferMoments(const OperatorDef& def, const std::vector<TensorShape>& in) {
  if (!AreKnown(in, 1)) return UnknownOutputsOfInputType(def, in);
  const ArgumentHelper args(def);
  const std::vector<int64_t> dims = GetDimsVector(in[0]);
  std::vector<char> reduced;
  std::vector<int64_t> result;
  MarkAxes(MomentsAxes(args), dims.size(), &reduced);
  ReducedDims(dims, reduced, args.Read(kReduceKeepDims) != 0, &result);
  return std::vector<TensorShape>(2, CreateTensorShape(result, in[0].data_type()));
}

// As in Caffe2, both outputs must have gradients.
class GetMomentsGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;
  bool CopyArguments() const override { return false; }

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    return {CreateOperatorDef("MomentsGradient", "", {GO(0), GO(1), I(0), O(0)}, {GI(0)},
                              std::vector<Argument>(def_.arg().begin(), def_.arg().end()))};
  }
};

}  // namespace

std::vector<int> MomentsAxes(const ArgumentHelper& args) {
  std::vector<int> axes = args.Read(kReduceAxes);
  for (const int axis : axes) CAFFE_ENFORCE_GE(axis, 0, "element of argument axes");
  return axes;
}

void ComputeMoments(const ReducePlan& plan, const float* x, std::vector<double>* sums, float* mean,
                    float* variance) {
  const size_t n = static_cast<size_t>(plan.output_size());
  const auto count = static_cast<double>(plan.reduced_size());
  sums->assign(2 * n, 0.0);
  double* const means = sums->data();
  double* const squares = means + n;
  plan.ForEachElement([&](int64_t i, int64_t k) { means[k] += x[i]; });
  for (size_t k = 0; k < n; ++k) means[k] /= count;
  plan.ForEachElement([&](int64_t i, int64_t k) {
    const double distance = x[i] - means[k];
    squares[k] += distance * distance;
  });
  for (size_t k = 0; k < n; ++k) {
    mean[k] = static_cast<float>(means[k]);
    variance[k] = static_cast<float>(squares[k] / count);
  }
}

void RegisterMoments() {
  RegisterSchema("Moments", __FILE__)
      .NumInputs(1)
      .NumOutputs(2)
      .Args(kReduceAxes, kReduceKeepDims)
      .Input(0, "data", "input, float, of any shape")
      .Output(0, "mean",
              "the mean: the shape of data where the reduced dimensions are 1, or removed")
      .Output(1, "variance", "the mean of (data - mean)^2, in the shape of mean")
      .TensorInferenceFunction(InferMoments)
      .CostInferenceFunction(PointwiseCostInference<4>)
      .SetDoc(
          "Computes mean and variance of the elements over the given dimensions. The moments of no "
          "elements are 0.");
  RegisterCpuOperator<MomentsOp<CPUContext>>("Moments", __FILE__);
  RegisterGradient<GetMomentsGradient>("Moments", __FILE__);

  RegisterSchema("MomentsGradient", __FILE__)
      .NumInputs(4)
      .NumOutputs(1)
      .Args(kReduceAxes, kReduceKeepDims)
      .Input(0, "dmean", "the gradient of mean, as many elements as mean")
      .Input(1, "dvariance", "the gradient of variance")
      .Input(2, "data", "as in Moments")
      .Input(3, "mean", "output 0 of Moments")
      .Output(0, "ddata", "the gradient of data")
      .IdenticalTypeAndShapeOfInput(2)
      .CostInferenceFunction(PointwiseCostInference<4>)
      .SetDoc("Computes the gradient of Moments.");
  RegisterCpuOperator<MomentsGradientOp>("MomentsGradient", __FILE__);
}

}  // namespace caffe2rt
