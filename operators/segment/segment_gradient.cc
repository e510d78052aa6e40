// SortedSegmentSumGradient, SortedSegmentMeanGradient, SortedSegmentWeightedSumGradient,
// SortedSegmentRangeSumGradient, SortedSegmentRangeMeanGradient, SortedSegmentRangeMaxGradient,
// SortedSegmentRangeLogSumExpGradient, SortedSegmentRangeLogMeanExpGradient,
// UnsortedSegmentSumGradient, UnsortedSegmentMeanGradient, UnsortedSegmentWeightedSumGradient,
// LengthsSumGradient, LengthsMeanGradient, LengthsWeightedSumGradient,
// LengthsWeightedSumWithMainInputGradient, LengthsMaxWithMainInputAndForwardOutputGradient,
// LengthsIndicesInGradientSumGradient, LengthsIndicesInGradientMeanGradient, and the Sparse forms of
// those of sums and means.

#include "operators/segment/segment_gradient.h"

#include <string_view>
#include <type_traits>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/inference.h"
#include "operators/segment/segment_reduction.h"

namespace caffe2rt {

namespace {

// LengthsIndicesInGradient operators have the data as last input, where others have the indices.
// Their rows are those of the data; the number of indices is not checked.
bool HasDataInPlaceOfIndices(const SegmentGradient& row, const std::vector<TensorShape>& in) {
  return std::string_view(row.type).starts_with("LengthsIndicesIn") && in[2].dims_size() > 0 &&
         in[2].data_type() != TensorProto::INT32 && in[2].data_type() != TensorProto::INT64;
}

// The number of rows is known from ids and, with lengths, from the data or from the weights.
std::vector<TensorShape> InferGradient(const OperatorDef& def, const std::vector<TensorShape>& in) {
  const SegmentGradient& row = SegmentGradientOf(def.type());
  std::vector<TensorShape> out = UnknownOutputs(def);
  if (!AreKnown(in, static_cast<size_t>(row.inputs)) || out.empty()) return out;
  const auto& gradient = in[static_cast<size_t>(row.gradient)];
  const auto& segments = in[static_cast<size_t>(row.segments)];
  if (gradient.dims_size() < 1 || segments.dims_size() != 1) return out;
  std::vector<int64_t> dims = GetDimsVector(gradient);
  if (row.by != SegmentsBy::kLengths) {
    dims[0] = segments.dims(0);
  } else if (segments.dims(0) == 0) {
    dims[0] = 0;
  } else if (row.data >= 0 && row.indices < 0 &&
             in[static_cast<size_t>(row.data)].dims_size() > 0) {
    dims[0] = in[static_cast<size_t>(row.data)].dims(0);
  } else if (row.scalars >= 0) {
    dims[0] = static_cast<int64_t>(NumElements(in[static_cast<size_t>(row.scalars)]));
  } else if (HasDataInPlaceOfIndices(row, in)) {
    dims[0] = in[2].dims(0);
  } else {
    return out;
  }
  out[0] = CreateTensorShape(dims, TensorProto::FLOAT);
  if (out.size() > 1 && row.scalars >= 0 && row.data >= 0) {
    out[1] =
        CreateTensorShape(GetDimsVector(in[static_cast<size_t>(row.scalars)]), TensorProto::FLOAT);
  }
  return out;
}

void RegisterType(const SegmentGradient& row) {
  OpSchema& schema = RegisterSchema(row.type, __FILE__)
                         .NumInputs(row.inputs)
                         .NumOutputs(row.min_outputs, row.max_outputs)
                         .Input(row.gradient, "SEGMENT_GRADS",
                                "[segments, inner..] float: the gradient of the output")
                         .Input(row.segments, NameOf(row.by), DocOf(row.by))
                         .Output(0, "DATA_grad", "[rows, inner..]: the gradient of each row")
                         .TensorInferenceFunction(InferGradient)
                         .SetDoc(MakeString("Computes the gradient of the rows of segments. Each "
                                            "segment was reduced to ",
                                            DocOf(row.reduction), "."));
  if (row.by == SegmentsBy::kUnsortedIds) schema.Arg(kNumSegments);
  if (row.scalars >= 0) {
    schema.Arg(kGradOnWeights).Input(row.scalars, "SCALARS", "float: the weight of each row");
  }
  if (row.data >= 0) schema.Input(row.data, "DATA", "input 0 of the forward operator");
  if (row.output >= 0) schema.Input(row.output, "OUTPUT", "the output of the forward operator");
  if (row.indices >= 0) schema.Input(row.indices, "INDICES", "the rows of DATA that were reduced");
  const int last = row.inputs - 1;
  if (last >
      std::max({row.gradient, row.segments, row.scalars, row.data, row.output, row.indices})) {
    schema.Input(last, "INDICES", "has no effect; of Lengths operators: DATA");
  }
  if (row.scalars >= 0 && row.data >= 0) {
    schema.Output(1, "SCALARS_grad", "the gradient of each weight");
  }
  RegisterCpuOperator<SegmentGradientOp<CPUContext>>(row.type, __FILE__);
  // As in Caffe2, gradients of gradients are not available.
}

}  // namespace

void RegisterSegmentGradient() {
  for (const SegmentGradient& row : SegmentGradients()) RegisterType(row);
}

}  // namespace caffe2rt
