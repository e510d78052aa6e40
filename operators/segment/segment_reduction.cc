// SortedSegmentSum, SortedSegmentMean, SortedSegmentWeightedSum, SortedSegmentRangeSum,
// SortedSegmentRangeMean, SortedSegmentRangeMax, SortedSegmentRangeLogSumExp,
// SortedSegmentRangeLogMeanExp, UnsortedSegmentSum, UnsortedSegmentMean,
// UnsortedSegmentWeightedSum, LengthsSum, LengthsMean, LengthsMax, LengthsWeightedSum,
// SparseSortedSegmentSum, SparseSortedSegmentMean, SparseSortedSegmentWeightedSum,
// SparseUnsortedSegmentSum, SparseUnsortedSegmentMean, SparseUnsortedSegmentWeightedSum,
// SparseLengthsSum, SparseLengthsMean, SparseLengthsWeightedSum,
// SparseLengthsPositionalWeightedSum.

#include "operators/segment/segment_reduction.h"

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/inference.h"

namespace caffe2rt {

int64_t OffsetsOfSortedIds(int64_t n, const int32_t* ids, int64_t* offsets) {
  int64_t count = 0;
  for (int64_t i = 0; i < n; ++i) {
    if (count > 0 && ids[i] == count - 1) continue;
    CAFFE_ENFORCE_EQ(ids[i], count, "element ", i,
                     " of input SEGMENT_IDS: ids must be sorted, start at 0 and have no gaps");
    offsets[count++] = i;
  }
  offsets[count] = n;
  return count;
}

void CheckSegmentIds(int64_t n, const int32_t* ids, int64_t segments) {
  for (int64_t i = 0; i < n; ++i) {
    CAFFE_ENFORCE(ids[i] >= 0 && ids[i] < segments, "element ", i, " of input SEGMENT_IDS is ",
                  ids[i], ", want at least 0 and below the number of segments, ", segments);
  }
}

std::string SubjectOf(SegmentsBy by, int input) {
  return MakeString("input ", input, " (", NameOf(by), ")");
}

namespace {

// The number of segments is known from lengths, and from the argument num_segments.
std::vector<TensorShape> InferReduction(const OperatorDef& def,
                                        const std::vector<TensorShape>& in) {
  const SegmentReduction& row = SegmentReductionOf(def.type());
  const size_t segments = static_cast<size_t>(row.segments());
  if (in.size() <= segments || !IsKnown(in[0]) || in[0].dims_size() < 1) return UnknownOutputs(def);
  std::vector<int64_t> dims = GetDimsVector(in[0]);
  if (row.by == SegmentsBy::kLengths) {
    if (!IsKnown(in[segments]) || in[segments].dims_size() != 1) return UnknownOutputs(def);
    dims[0] = in[segments].dims(0);
  } else {
    const int count =
        row.by == SegmentsBy::kUnsortedIds ? ArgumentHelper(def).Read(kNumSegments) : -1;
    if (count < 0) return UnknownOutputs(def);
    dims[0] = count;
  }
  return {CreateTensorShape(dims, TensorProto::FLOAT)};
}

class GetSegmentGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    const SegmentReduction& row = SegmentReductionOf(Def().type());
    const bool with_weights = row.weighted() && ArgumentHelper(Def()).Read(kGradOnWeights);
    CAFFE_ENFORCE(!with_weights || row.gradient_with_weights != nullptr,
                  "argument grad_on_weights is 1, but ", row.type,
                  " has no gradient with respect to SCALARS");
    const std::string type = with_weights ? row.gradient_with_weights : row.gradient;
    const SegmentGradient& gradient = SegmentGradientOf(type);
    std::vector<std::string> inputs(static_cast<size_t>(gradient.inputs));
    const auto set = [&](int position, const std::string& name) {
      if (position >= 0) inputs[static_cast<size_t>(position)] = name;
    };
    // A last input that the operator does not read: the indices, or what stands in for them.
    if (row.by == SegmentsBy::kLengths) {
      set(gradient.inputs - 1, I(row.sparse ? row.indices() : 0));
    }
    set(gradient.scalars, row.weighted() ? I(1) : "");
    set(gradient.data, I(0));
    set(gradient.output, gradient.output >= 0 ? O(0) : "");
    set(gradient.gradient, GO(0));
    set(gradient.segments, I(row.segments()));
    std::vector<std::string> outputs;
    if (row.sparse) {
      outputs.push_back(GI_V(0));
      SetSparse(0, I(row.indices()), outputs[0]);
    } else {
      outputs.push_back(GI(0));
    }
    if (with_weights) outputs.push_back(GI(1));
    return SingleGradientDef(type, "", inputs, outputs);
  }
};

void RegisterType(const SegmentReduction& row) {
  const bool unsorted = row.by == SegmentsBy::kUnsortedIds;
  OpSchema& schema = RegisterSchema(row.type, __FILE__).NumInputs(row.segments() + 1).NumOutputs(1);
  if (unsorted) schema.Arg(kNumSegments);
  if (row.weighted()) {
    const bool positional = row.reduction == Reduction::kPositionalSum;
    if (!positional) schema.Arg(kGradOnWeights);
    schema.Input(1, positional ? "WEIGHT" : "SCALARS",
                 positional ? "float: the weight of each position in a segment"
                            : "float: the weight of each row that is reduced");
  }
  if (row.sparse) {
    schema.Input(row.indices(), "INDICES", "int32 or int64: the rows of DATA to reduce");
  }
  schema
      .Input(0, "DATA",
             row.takes_half() ? "[rows, inner..] float or float16" : "[rows, inner..] float")
      .Input(row.segments(), NameOf(row.by), DocOf(row.by))
      .Output(0, "OUTPUT", "[segments, inner..] float")
      .TensorInferenceFunction(InferReduction)
      .SetDoc(MakeString(
          "Reduces the rows of each segment to one row: ", DocOf(row.reduction), ".",
          row.sparse ? " The rows are those of DATA that INDICES names, in this order." : ""));
  RegisterCpuOperator<SegmentReductionOp<CPUContext>>(row.type, __FILE__);
  // Caffe2 has no gradient for the rows without one.
  if (row.gradient != nullptr) RegisterGradient<GetSegmentGradient>(row.type, __FILE__);
}

}  // namespace

void RegisterSegmentReduction() {
  for (const SegmentReduction& row : SegmentReductions()) RegisterType(row);
}

}  // namespace caffe2rt
