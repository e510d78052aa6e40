#include "operators/conv/conv_fusion.h"

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/inference.h"
#include "operators/common/onednn_argument.h"
#include "operators/conv/conv_arguments.h"

namespace caffe2rt {

ConvFusionInputs FindConvFusionInputs(OperatorBase& op, const ConvEpilogue& epilogue) {
  ConvFusionInputs inputs;
  int last = op.InputSize() - 1;
  if (epilogue.sum) {
    CAFFE_ENFORCE_GE(last, 2, "argument sum is 1: number of inputs - 1, want the added tensor");
    inputs.sum = last--;
  }
  CAFFE_ENFORCE_LE(last, 2, "inputs without the added tensor, want X, filter and bias");
  if (last == 2) inputs.bias = last;
  for (int i = 0; i < op.InputSize(); ++i) {
    CAFFE_ENFORCE(i == inputs.sum || !op.IsInputOutputAlias(i, 0), "output 0 (Y) is in place with ",
                  "input ", i, ", want the added tensor, which is the last input if sum is 1");
  }
  return inputs;
}

ConvFusionOnCpuOp::ConvFusionOnCpuOp(const OperatorDef& def, Workspace* ws)
    : Operator<CPUContext>(def, ws),
      window_(ParseWindowArguments(args(), WindowUse::kConv)),
      epilogue_(ReadConvEpilogue(args())),
      inputs_(FindConvFusionInputs(*this, epilogue_)),
      limits_{.deterministic = ReadArgument(kDeterministic) != 0} {}

void ConvFusionOnCpuOp::Plan(const Tensor& X, const Tensor& filter) {
  x_dims_.clear();  // if a check below throws, the next run plans again
  const ConvShape shape = MakeConvShape(window_, X.sizes(), filter.sizes(), inputs_.bias >= 0);
  y_dims_ = shape.window.OutputDims(shape.out_channels);
  plan_ = nullptr;  // free its memory before the new plan is built
  plan_ = std::make_unique<ConvPlan>(shape, limits_);
  x_dims_ = X.dims();
  filter_dims_ = filter.dims();
}

void ConvFusionOnCpuOp::PlanAhead(const AheadInputs& inputs) {
  Plan(Input(0), Input(1));
  if (inputs.is_constant(1)) plan_->Prepare(Input(1));
  Output(0)->Resize(y_dims_);
  (void)Output(0)->mutable_data<float>();
}

bool ConvFusionOnCpuOp::RunOnDevice() {
  const Tensor& X = Input(0);
  const Tensor& filter = Input(1);
  const float* x = X.data<float>();
  filter.CheckData<float>();
  if (x_dims_.empty() || X.dims() != x_dims_ || filter.dims() != filter_dims_) Plan(X, filter);
  const float* bias = nullptr;
  if (inputs_.bias >= 0) bias = ConvBias(Input(inputs_.bias), filter_dims_[0]);
  const float* s = nullptr;
  if (epilogue_.sum) {
    const Tensor& S = Input(inputs_.sum);
    CAFFE_ENFORCE(S.dims() == y_dims_, "input ", inputs_.sum, " (S) has shape ", S.sizes(),
                  ", want that of the convolution, ", IntArrayRef(y_dims_));
    if (IsInputOutputAlias(inputs_.sum, 0)) s_copy_.CopyFrom(S, &context_);
    s = IsInputOutputAlias(inputs_.sum, 0) ? s_copy_.data<float>() : S.data<float>();
  }
  Tensor* Y = Output(0);
  Y->Resize(y_dims_);
  float* y = Y->mutable_data<float>();
  if (Y->numel() == 0) return true;
  plan_->Run(x, filter, bias, y);
  RunConvEpilogue(epilogue_, Y->numel(), s, y);
  return true;
}

namespace {

std::vector<TensorShape> WithoutSum(const OperatorDef& def, const std::vector<TensorShape>& in) {
  const bool sum = ArgumentHelper(def).Read(kFusedSum) != 0;
  return {in.begin(), in.end() - (sum && in.size() > 2 ? 1 : 0)};
}

MemoryTraits::Extra ConvFusionExtraMemory(const OperatorDef& def,
                                          const std::vector<TensorShape>& in,
                                          const std::vector<TensorShape>& out) {
  return ConvExtraMemory(def, WithoutSum(def, in), out);
}

OpSchema::Cost ConvFusionCost(const OperatorDef& def, const std::vector<TensorShape>& in) {
  const bool sum = ArgumentHelper(def).Read(kFusedSum) != 0;
  OpSchema::Cost cost = ConvCost(def, WithoutSum(def, in));
  if (sum && AreKnown(in, 2)) {
    const uint64_t added = NumElements(InferConvShape(def, in)[0]);
    cost.flops += added;
    cost.bytes_read += added * sizeof(float);
    cost.bytes_moved += added * sizeof(float);
  }
  return cost;
}

// On IDEEP, filter and bias are on the CPU; X and S are on IDEEP.
std::pair<std::vector<DeviceOption>, std::vector<DeviceOption>> ConvFusionDevices(
    const OperatorDef& def) {
  const bool sum = ArgumentHelper(def).Read(kFusedSum) != 0;
  std::set<int> weights = {1};
  if (def.input_size() - (sum ? 1 : 0) > 2) weights.insert(2);
  return OnednnWeightsOnCpu(weights)(def);
}

}  // namespace

void RegisterConvFusion() {
  OpSchema& schema =
      RegisterSchema("ConvFusion", __FILE__)
          .NumInputs(2, 4)
          .NumOutputs(1)
          .AllowInplace({{2, 0}, {3, 0}})
          .TensorInferenceFunction(InferConvShape)
          .CostInferenceFunction(ConvFusionCost)
          .DeviceInferenceFunction(ConvFusionDevices)
          .Traits({.family = OperatorFamily::kConv,
                   .onednn = {OnednnRole::kConvolution, OnednnArguments::kImageWindow},
                   .multiply_adds = MultiplyAddCount::kConv,
                   .has_weights = true})
          // If Y is in place with S, S is copied first.
          .Memory({.same_blob_in_place = true, .extra = ConvFusionExtraMemory})
          .SetDoc(
              "Computes a convolution as Conv does, adds an optional tensor S of the same shape, "
              "and applies an activation. Graph passes replace Conv, Sum and an activation by this "
              "operator. Y may be in place with S.")
          .Input(0, "X",
                 "input, [N, C, H, W] or [N, H, W, C]; the number of spatial axes may differ")
          .Input(1, "filter",
                 "weights, [M, C / group, kernel...] in NCHW, [M, kernel..., C / group] in NHWC")
          .Input(2, "bias", "optional bias, [M]. If sum is 1 and there is no bias, S instead")
          .Input(3, "S", "tensor to add, with the shape of Y; only if sum is 1")
          .Output(0, "Y", "result, in the layout of X, with M channels");
  DeclareWindowArguments(schema, WindowUse::kConv);
  DeclareConvArguments(schema);
  DeclareConvEpilogue(schema);
  schema.Args(kOnednnLayout, kWinogradFilterBytes, kPrecision, kOutputPrecision, kLeastPrecision,
              kInputMin, kInputMax, kOutputMin, kOutputMax);
  RegisterCpuOperator<ConvFusionOnCpuOp>("ConvFusion", __FILE__);
  // Created by graph passes of inference nets only.
  RegisterGradient<GradientNotImplementedYet>("ConvFusion", __FILE__);
}

}  // namespace caffe2rt
