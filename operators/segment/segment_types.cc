#include "operators/segment/segment_types.h"

#include "caffe2_core/base/enforce.h"

namespace caffe2rt {

namespace {

using enum SegmentsBy;
using enum Reduction;

constexpr SegmentReduction kReductions[] = {
    {"SortedSegmentSum", kSortedIds, kSum, false, "SortedSegmentSumGradient"},
    {"SortedSegmentMean", kSortedIds, kMean, false, "SortedSegmentMeanGradient"},
    {"SortedSegmentWeightedSum", kSortedIds, kWeightedSum, false,
     "SortedSegmentWeightedSumGradient"},
    {"SparseSortedSegmentSum", kSortedIds, kSum, true, "SortedSegmentSumGradient"},
    {"SparseSortedSegmentMean", kSortedIds, kMean, true, "SortedSegmentMeanGradient"},
    {"SparseSortedSegmentWeightedSum", kSortedIds, kWeightedSum, true,
     "SortedSegmentWeightedSumGradient"},
    {"SortedSegmentRangeSum", kSortedIds, kSum, false, "SortedSegmentRangeSumGradient"},
    {"SortedSegmentRangeMean", kSortedIds, kMean, false, "SortedSegmentRangeMeanGradient"},
    {"SortedSegmentRangeMax", kSortedIds, kMaxOfRange, false, "SortedSegmentRangeMaxGradient"},
    {"SortedSegmentRangeLogSumExp", kSortedIds, kLogSumExp, false,
     "SortedSegmentRangeLogSumExpGradient"},
    {"SortedSegmentRangeLogMeanExp", kSortedIds, kLogMeanExp, false,
     "SortedSegmentRangeLogMeanExpGradient"},
    {"UnsortedSegmentSum", kUnsortedIds, kSum, false, "UnsortedSegmentSumGradient"},
    {"UnsortedSegmentMean", kUnsortedIds, kMean, false, "UnsortedSegmentMeanGradient"},
    {"UnsortedSegmentWeightedSum", kUnsortedIds, kWeightedSum, false,
     "UnsortedSegmentWeightedSumGradient"},
    {"SparseUnsortedSegmentSum", kUnsortedIds, kSum, true, "UnsortedSegmentSumGradient"},
    {"SparseUnsortedSegmentMean", kUnsortedIds, kMean, true, "UnsortedSegmentMeanGradient"},
    {"SparseUnsortedSegmentWeightedSum", kUnsortedIds, kWeightedSum, true,
     "UnsortedSegmentWeightedSumGradient"},
    {"LengthsSum", kLengths, kSum, false, "LengthsIndicesInGradientSumGradient"},
    {"LengthsMean", kLengths, kMean, false, "LengthsIndicesInGradientMeanGradient"},
    {"LengthsMax", kLengths, kMax, false, "LengthsMaxWithMainInputAndForwardOutputGradient"},
    {"LengthsWeightedSum", kLengths, kWeightedSum, false, "LengthsWeightedSumGradient",
     "LengthsWeightedSumWithMainInputGradient"},
    {"SparseLengthsSum", kLengths, kSum, true, "SparseLengthsIndicesInGradientSumGradient"},
    {"SparseLengthsMean", kLengths, kMean, true, "SparseLengthsIndicesInGradientMeanGradient"},
    {"SparseLengthsWeightedSum", kLengths, kWeightedSum, true,
     "SparseLengthsIndicesInGradientWeightedSumGradient",
     "SparseLengthsIndicesInGradientWeightedSumWithMainInputGradient"},
    {"SparseLengthsPositionalWeightedSum", kLengths, kPositionalSum, true, nullptr},
};

// SEGMENT_GRADS, segments.
constexpr SegmentGradient Plain(const char* type, SegmentsBy by, Reduction reduction,
                                int inputs = 2) {
  return {.type = type,
          .by = by,
          .reduction = reduction,
          .inputs = inputs,
          .gradient = 0,
          .segments = 1};
}
// SCALARS, SEGMENT_GRADS, segments.
constexpr SegmentGradient Weighted(const char* type, SegmentsBy by, int inputs = 3) {
  return {.type = type,
          .by = by,
          .reduction = kWeightedSum,
          .inputs = inputs,
          .gradient = 1,
          .segments = 2,
          .scalars = 0};
}
// SCALARS, SEGMENT_GRADS, LENGTHS, DATA_INPUT and, if sparse, INDICES.
constexpr SegmentGradient WithMainInput(const char* type, bool sparse, int min_outputs,
                                        int max_outputs) {
  return {.type = type,
          .by = kLengths,
          .reduction = kWeightedSum,
          .inputs = sparse ? 5 : 4,
          .gradient = 1,
          .segments = 2,
          .scalars = 0,
          .data = 3,
          .indices = sparse ? 4 : -1,
          .min_outputs = min_outputs,
          .max_outputs = max_outputs};
}
// DATA_IN, DATA_OUT, SEGMENT_GRADS, SEGMENT_IDS.
constexpr SegmentGradient OfRange(const char* type, Reduction reduction) {
  return {.type = type,
          .by = kSortedIds,
          .reduction = reduction,
          .inputs = 4,
          .gradient = 2,
          .segments = 3,
          .data = 0,
          .output = 1};
}
// Caffe2 does not limit the number of outputs of some gradient operators.
constexpr int kAnyNumber = INT32_MAX;

constexpr SegmentGradient kGradients[] = {
    Plain("SortedSegmentSumGradient", kSortedIds, kSum),
    Plain("SortedSegmentMeanGradient", kSortedIds, kMean),
    Weighted("SortedSegmentWeightedSumGradient", kSortedIds),
    Plain("SparseSortedSegmentSumGradient", kSortedIds, kSum),
    Plain("SparseSortedSegmentMeanGradient", kSortedIds, kMean),
    Weighted("SparseSortedSegmentWeightedSumGradient", kSortedIds),
    OfRange("SortedSegmentRangeSumGradient", kSum),
    OfRange("SortedSegmentRangeMeanGradient", kMean),
    OfRange("SortedSegmentRangeMaxGradient", kMax),
    OfRange("SortedSegmentRangeLogSumExpGradient", kLogSumExp),
    OfRange("SortedSegmentRangeLogMeanExpGradient", kLogMeanExp),
    Plain("UnsortedSegmentSumGradient", kUnsortedIds, kSum),
    Plain("UnsortedSegmentMeanGradient", kUnsortedIds, kMean),
    Weighted("UnsortedSegmentWeightedSumGradient", kUnsortedIds),
    Plain("SparseUnsortedSegmentSumGradient", kUnsortedIds, kSum),
    Plain("SparseUnsortedSegmentMeanGradient", kUnsortedIds, kMean),
    Weighted("SparseUnsortedSegmentWeightedSumGradient", kUnsortedIds),
    Plain("LengthsSumGradient", kLengths, kSum),
    Plain("LengthsMeanGradient", kLengths, kMean),
    Weighted("LengthsWeightedSumGradient", kLengths),
    Plain("SparseLengthsSumGradient", kLengths, kSum),
    Plain("SparseLengthsMeanGradient", kLengths, kMean),
    Weighted("SparseLengthsWeightedSumGradient", kLengths),
    // These read the indices as well; in those of Lengths operators, DATA stands in for them.
    Plain("LengthsIndicesInGradientSumGradient", kLengths, kSum, 3),
    Plain("LengthsIndicesInGradientMeanGradient", kLengths, kMean, 3),
    Plain("SparseLengthsIndicesInGradientSumGradient", kLengths, kSum, 3),
    Plain("SparseLengthsIndicesInGradientMeanGradient", kLengths, kMean, 3),
    Weighted("SparseLengthsIndicesInGradientWeightedSumGradient", kLengths, 4),
    WithMainInput("LengthsWeightedSumWithMainInputGradient", false, 1, kAnyNumber),
    WithMainInput("SparseLengthsWeightedSumWithMainInputGradient", true, 1, kAnyNumber),
    WithMainInput("SparseLengthsIndicesInGradientWeightedSumWithMainInputGradient", true, 2, 2),
    {.type = "LengthsMaxWithMainInputAndForwardOutputGradient",
     .by = kLengths,
     .reduction = kMax,
     .inputs = 4,
     .gradient = 1,
     .segments = 2,
     .data = 3,
     .output = 0,
     .max_outputs = kAnyNumber},
};

template <class Row>
const Row& Find(std::span<const Row> rows, const std::string& type) {
  for (const Row& row : rows) {
    if (type == row.type) return row;
  }
  CAFFE_THROW("\"", type, "\" is not a segment operator");
}

}  // namespace

std::span<const SegmentReduction> SegmentReductions() { return kReductions; }
std::span<const SegmentGradient> SegmentGradients() { return kGradients; }

const SegmentReduction& SegmentReductionOf(const std::string& type) {
  return Find(SegmentReductions(), type);
}
const SegmentGradient& SegmentGradientOf(const std::string& type) {
  return Find(SegmentGradients(), type);
}

const char* NameOf(SegmentsBy by) { return by == kLengths ? "LENGTHS" : "SEGMENT_IDS"; }

const char* DocOf(SegmentsBy by) {
  switch (by) {
    case kSortedIds:
      return "[rows] int32: the number of the segment of each row: sorted, from 0 on, without gaps";
    case kUnsortedIds:
      return "[rows] int32: the number of the segment of each row";
    default:
      return "[segments] int32: the number of rows of each segment; they are consecutive";
  }
}

const char* DocOf(Reduction reduction) {
  switch (reduction) {
    case kSum:
      return "the sum of the rows";
    case kMean:
      return "the mean of the rows, or 0 if there are none";
    case kWeightedSum:
      return "the sum of the rows, each multiplied by its weight";
    case kPositionalSum:
      return "the sum of the rows, each multiplied by the weight of its position in the segment";
    case kMax:
      return "the maximum of the rows, or 0 if there are none";
    case kMaxOfRange:
      return "the maximum of the rows";
    case kLogSumExp:
      return "the logarithm of the sum of the exponentials of the rows";
    default:
      return "the logarithm of the mean of the exponentials of the rows";
  }
}

}  // namespace caffe2rt
