// ReduceFrontWeightedSum: the sum over the first `num_reduce_dim` dimensions, weighted.
//   DATA [M.., N..], SCALARS [M..], float  ->  OUTPUT [N..]
// ReduceFrontWeightedSumGradient: SCALARS, dOUTPUT, SOURCE_SHAPE int64: the shape of DATA  ->  dDATA

#include <algorithm>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/element_type.h"
#include "operators/common/inference.h"
#include "operators/reduce/reduce_front_back.h"

namespace caffe2rt {
namespace {

constexpr ArgumentSpec<bool> kFrontGradOnWeights{
    "grad_on_weights", false, "not used, as in Caffe2: SCALARS have no gradient"};

class ReduceFrontWeightedSumOp final : public Operator<CPUContext> {
 public:
  ReduceFrontWeightedSumOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), count_(ReadArgument(kNumReduceDim)) {}

  bool RunOnDevice() override {
    const Tensor& data = Input(0);
    const Tensor& scalars = Input(1);
    CheckReduceDims(count_, data.dim());
    const IntArrayRef dims = data.sizes();
    const auto count = static_cast<size_t>(count_);
    CAFFE_ENFORCE(scalars.sizes() == IntArrayRef(dims.data(), count),
                  "input 1 (SCALARS) has shape ", scalars.sizes(), ", want the first ", count_,
                  " dimensions of input 0 (DATA) of shape ", dims);
    const int64_t rows = scalars.numel(), n = data.size_from_dim(count_);
    RequireElements<float>(scalars);
    const float* x = data.data<float>();
    const float* const weight = scalars.data<float>();
    float* const y = OutputData<float>(0, IntArrayRef(dims.data() + count, dims.size() - count));
    std::fill_n(y, n, 0.0f);
    for (int64_t r = 0; r < rows; ++r, x += n) {
      for (int64_t i = 0; i < n; ++i) y[i] += weight[r] * x[i];
    }
    return true;
  }

 private:
  const int count_;
};

class ReduceFrontWeightedSumGradientOp final : public Operator<CPUContext> {
 public:
  ReduceFrontWeightedSumGradientOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), count_(ReadArgument(kNumReduceDim)) {}

  bool RunOnDevice() override {
    const Tensor& scalars = Input(0);
    const Tensor& gradient = Input(1);
    const Tensor& shape = Input(2);
    CAFFE_ENFORCE_EQ(shape.dim(), 1, "rank of input 2 (SOURCE_SHAPE) of shape ", shape.sizes());
    CheckReduceDims(count_, shape.dim(0));
    RequireElements<float>(scalars);
    RequireElements<float>(gradient);
    const IntArrayRef dims(shape.data<int64_t>(), static_cast<size_t>(shape.dim(0)));
    const auto count = static_cast<size_t>(count_);
    const int64_t rows = CheckedProduct(IntArrayRef(dims.data(), count));
    const int64_t n = CheckedProduct(IntArrayRef(dims.data() + count, dims.size() - count));
    CAFFE_ENFORCE(rows == scalars.numel() && n == gradient.numel(), "input 2 (SOURCE_SHAPE) is ",
                  dims, ", want the shape of ", scalars.numel(), " elements of input 0 (SCALARS) ",
                  "times ", gradient.numel(), " of input 1 (REDUCTION_GRAD)");
    const float* const weight = scalars.data<float>();
    const float* const dy = gradient.data<float>();
    float* dx = OutputData<float>(0, dims);
    for (int64_t r = 0; r < rows; ++r, dx += n) {
      for (int64_t i = 0; i < n; ++i) dx[i] = weight[r] * dy[i];
    }
    return true;
  }

 private:
  const int count_;
};

class GetReduceFrontWeightedSumGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    const std::string shape = "_" + O(0) + "_dims";
    return {CreateOperatorDef("Shape", "", std::vector<std::string>{ShapeOf(0)},
                              std::vector<std::string>{shape}),
            CreateOperatorDef("ReduceFrontWeightedSumGradient", "",
                              std::vector<std::string>{I(1), GO(0), shape},
                              std::vector<std::string>{GI(0)})};
  }
};

}  // namespace

void RegisterReduceFrontWeightedSum() {
  RegisterSchema("ReduceFrontWeightedSum", __FILE__)
      .NumInputs(2)
      .NumOutputs(1)
      .Args(kNumReduceDim, kFrontGradOnWeights)
      .Input(0, "DATA", "[M.., N..] float, where M.. are num_reduce_dim dimensions")
      .Input(1, "SCALARS", "[M..] float: the weights")
      .Output(0, "OUTPUT", "[N..] float")
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        if (!AreKnown(in, 1)) return UnknownOutputsOfInputType(def, in);
        const int count = ArgumentHelper(def).Read(kNumReduceDim);
        const std::vector<int64_t> dims = GetDimsVector(in[0]);
        CheckReduceDims(count, static_cast<int64_t>(dims.size()));
        return std::vector<TensorShape>{CreateTensorShape(
            std::vector<int64_t>(dims.begin() + count, dims.end()), in[0].data_type())};
      })
      .SetDoc("Computes the weighted sum over the first num_reduce_dim dimensions.");
  RegisterCpuOperator<ReduceFrontWeightedSumOp>("ReduceFrontWeightedSum", __FILE__);
  RegisterSchema("ReduceFrontWeightedSumGradient", __FILE__)
      .NumInputs(3)
      .NumOutputs(1)
      .Args(kNumReduceDim, kFrontGradOnWeights)
      .Input(0, "SCALARS", "float: the weights")
      .Input(1, "REDUCTION_GRAD", "float: the gradient of OUTPUT")
      .Input(2, "SOURCE_SHAPE", "int64: the shape of DATA")
      .Output(0, "dDATA", "float: the gradient of DATA")
      .TensorInferenceFunction([](const OperatorDef&, const std::vector<TensorShape>&) {
        return std::vector<TensorShape>{UnknownShapeOf(TensorProto_DataType_FLOAT)};
      })
      .Traits({.no_shape_reason = "the shape is the value of an input"})
      .SetDoc("Computes the gradient of ReduceFrontWeightedSum with respect to DATA.");
  RegisterCpuOperator<ReduceFrontWeightedSumGradientOp>("ReduceFrontWeightedSumGradient", __FILE__);
  RegisterGradient<GetReduceFrontWeightedSumGradient>("ReduceFrontWeightedSum", __FILE__);
}

}  // namespace caffe2rt
