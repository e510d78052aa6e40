#include "operators/shape/gather.h"

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/inference.h"

namespace caffe2rt {

GatherArguments ReadGatherArguments(const ArgumentHelper& args, int fixed_axis) {
  GatherArguments result;
  result.match_outer = args.Read(kMatchOuter);
  if (fixed_axis >= 0) {
    result.axis = fixed_axis;
    return result;
  }
  result.axis = args.Read(kGatherAxis);
  result.wrap = args.HasArgument(kWrapIndices) ? args.Read(kWrapIndices) : result.axis == 0;
  return result;
}

namespace {

// THROWS unless the first dimensions of the indices are the dimensions of the data before the axis.
void CheckOuterIndices(IntArrayRef data, IntArrayRef indices, int axis) {
  const size_t outer = static_cast<size_t>(axis);
  CAFFE_ENFORCE_GE(axis, 1, "axis with match_outer");
  CAFFE_ENFORCE(indices.size() >= outer && indices.slice(0, outer) == data.slice(0, outer),
                "input 1 (INDICES) has shape ", indices, ", want its first dimensions to be ",
                data.slice(0, outer), ", the dimensions of input 0 (DATA) before axis ", axis);
}

}  // namespace

void GatheredDims(IntArrayRef data, IntArrayRef indices, bool match_outer, int* axis,
                  std::vector<int64_t>* dims) {
  const int rank = static_cast<int>(data.size());
  CAFFE_ENFORCE(rank > 0, "input 0 (DATA) is a scalar, want rank 1 or more");
  *axis = canonical_axis_index_(*axis, rank);
  const size_t outer = static_cast<size_t>(*axis);
  if (data[outer] == 0) {
    dims->assign(data.begin(), data.end());
    return;
  }
  if (match_outer) CheckOuterIndices(data, indices, *axis);
  dims->assign(data.begin(), data.begin() + *axis);
  dims->insert(dims->end(), indices.begin() + (match_outer ? *axis : 0), indices.end());
  dims->insert(dims->end(), data.begin() + *axis + 1, data.end());
}

GatherSizes GatherGradientSizes(IntArrayRef data, IntArrayRef indices, IntArrayRef gradient,
                                const GatherArguments& arguments) {
  const int rank = static_cast<int>(data.size());
  if (arguments.axis != 0) CAFFE_ENFORCE_GE(rank, 2, "rank of input 0 (DATA)");
  const int axis = canonical_axis_index_(arguments.axis, rank);
  const size_t outer = static_cast<size_t>(axis);
  CAFFE_ENFORCE(gradient.size() >= outer && gradient.slice(0, outer) == data.slice(0, outer),
                "input 2 (the gradient) has shape ", gradient, ", want its first dimensions to be ",
                data.slice(0, outer), ", the dimensions of input 0 (DATA) before axis ", axis);
  GatherSizes sizes;
  sizes.outer = size_to_dim_(axis, data);
  sizes.size = data[outer];
  sizes.block = size_from_dim_(axis + 1, data);
  sizes.match_outer = arguments.match_outer;
  sizes.wrap = arguments.wrap;
  if (CheckedProduct(data) == 0) return sizes;
  if (sizes.match_outer) CheckOuterIndices(data, indices, axis);
  sizes.count = CheckedProduct(indices.slice(sizes.match_outer ? outer : 0));
  const int64_t total = CheckedMultiply(sizes.outer * sizes.block, sizes.count);
  CAFFE_ENFORCE_EQ(CheckedProduct(gradient), total, "elements of input 2 (the gradient) of shape ",
                   gradient, ", want ", sizes.count, " slices of ", sizes.block,
                   " for each outer index of input 0 (DATA) of shape ", data);
  return sizes;
}

namespace {

template <int kFixedAxis>
std::vector<TensorShape> InferGather(const OperatorDef& def, const std::vector<TensorShape>& in) {
  if (!AreKnown(in, 2)) return UnknownOutputs(def);
  const GatherArguments arguments = ReadGatherArguments(ArgumentHelper(def), kFixedAxis);
  int axis = arguments.axis;
  std::vector<int64_t> dims;
  GatheredDims(GetDimsVector(in[0]), GetDimsVector(in[1]), arguments.match_outer, &axis, &dims);
  return {CreateTensorShape(dims, in[0].data_type())};
}

template <int kFixedAxis>
OpSchema& RegisterAs(const std::string& type, const char* doc) {
  OpSchema& schema = RegisterSchema(type, __FILE__);
  RegisterCpuOperator<GatherOp<CPUContext, kFixedAxis>>(type, __FILE__);
  return schema.NumInputs(2)
      .NumOutputs(1)
      .Arg(kMatchOuter)
      .Input(0, "DATA", "tensor of rank 1 or more")
      .Input(1, "INDICES", "indices, int32 or int64")
      .Output(0, "OUTPUT", "the selected slices")
      .TensorInferenceFunction(InferGather<kFixedAxis>)
      .Traits({.family = OperatorFamily::kShape})
      .SetDoc(doc);
}

OperatorDef MakeBatchGatherGradient(const std::string& data, const std::string& indices,
                                    const std::string& gradient, const std::string& result) {
  return CreateOperatorDef("BatchGatherGradient", "", {data, indices, gradient}, {result});
}

class GetGatherGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    const ArgumentHelper args(def_);
    const bool dense = args.Read(kDenseGradient);
    if (args.Read(kGatherAxis) != 0) {
      CAFFE_ENFORCE(dense || !args.HasArgument(kDenseGradient),
                    "argument dense_gradient is 0, want 1 for an axis other than 0");
      return {MakeBatchGatherGradient(I(0), I(1), GO(0), GI(0))};
    }
    // SparseToDense, as in Caffe2, accepts neither negative indices nor axes of indices.
    if (dense && args.HasArgument(kWrapIndices) && args.Read(kWrapIndices)) {
      OperatorDef op = MakeBatchGatherGradient(I(0), I(1), GO(0), GI(0));
      if (!args.HasArgument(kGatherAxis)) *op.add_arg() = MakeArgument(kGatherAxis.name, 0);
      return {op};
    }
    if (dense) return SingleGradientDef("SparseToDense", "", {I(1), GO(0), I(0)}, {GI(0)});
    SetSparse(0, I(1), GO(0));
    return {};
  }
};

class GetBatchGatherGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    return {MakeBatchGatherGradient(I(0), I(1), GO(0), GI(0))};
  }
};

}  // namespace

void RegisterGather() {
  RegisterAs<-1>("Gather", "Selects slices of DATA along one dimension by their indices.")
      .Args(kGatherAxis, kWrapIndices, kDenseGradient);
  RegisterGradient<GetGatherGradient>("Gather", __FILE__);
  RegisterAs<1>("BatchGather", "Selects slices of DATA along dimension 1 by their indices.");
  RegisterGradient<GetBatchGatherGradient>("BatchGather", __FILE__);

  RegisterSchema("BatchGatherGradient", __FILE__)
      .NumInputs(3)
      .NumOutputs(1)
      .Args(kBatchGatherGradientAxis, kMatchOuter, kWrapIndices)
      .Input(0, "DATA", "input 0 of the forward operator, for its shape: rank 2 or more, float")
      .Input(1, "INDICES", "indices, int32 or int64")
      .Input(2, "OUTPUT_grad", "the gradient of the output of the forward operator")
      .Output(0, "DATA_grad", "the gradient of DATA")
      .IdenticalTypeAndShapeOfInput(0)
      .SetDoc(
          "Computes the gradient of BatchGather, and of Gather for an axis other than 0. On CUDA "
          "the order of additions is fixed; the engine ATOMIC uses atomic additions instead, "
          "whose order and rounding differ between runs.");
  RegisterCpuOperator<BatchGatherGradientOp<CPUContext>>("BatchGatherGradient", __FILE__);
}

}  // namespace caffe2rt
