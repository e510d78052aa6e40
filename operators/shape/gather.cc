#include "operators/shape/gather.h"

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
  if (match_outer) {
    CAFFE_ENFORCE_GE(*axis, 1, "axis with match_outer");
    CAFFE_ENFORCE(indices.size() >= outer && indices.slice(0, outer) == data.slice(0, outer),
                  "input 1 (INDICES) has shape ", indices, ", want its first dimensions to be ",
                  data.slice(0, outer), ", the dimensions of input 0 (DATA) before axis ", *axis);
  }
  dims->assign(data.begin(), data.begin() + *axis);
  dims->insert(dims->end(), indices.begin() + (match_outer ? *axis : 0), indices.end());
  dims->insert(dims->end(), data.begin() + *axis + 1, data.end());
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
      .SetDoc(doc);
}

}  // namespace

void RegisterGather() {
  RegisterAs<-1>("Gather", "Selects slices of DATA along one dimension by their indices.")
      .Args(kGatherAxis, kWrapIndices);
  RegisterAs<1>("BatchGather", "Selects slices of DATA along dimension 1 by their indices.");
}

}  // namespace caffe2rt
