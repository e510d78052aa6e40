#pragma once
// The tables of segment operators: a type is a row. A forward operator reduces the rows of each
// segment of DATA to one row of the output.
//
// Inputs of a forward operator: DATA, then SCALARS (weights) if its reduction is weighted, then
// INDICES if it is sparse, then SEGMENT_IDS or LENGTHS. A sparse operator reduces the rows of DATA
// that the indices name.

#include <cstdint>
#include <span>
#include <string>

#include "operators/segment/segment_kernels.h"

namespace caffe2rt {

// What describes the segments: the number of the segment of each row, or the length of each
// segment.
enum class SegmentsBy { kSortedIds, kUnsortedIds, kLengths };

struct SegmentReduction {
  const char* type;
  SegmentsBy by;
  Reduction reduction;
  bool sparse;
  const char* gradient;  // the type of its gradient operator; null if there is none
  // Of a weighted reduction: the gradient operator if the gradient of the weights is requested.
  const char* gradient_with_weights = nullptr;

  bool weighted() const {
    return reduction == Reduction::kWeightedSum || reduction == Reduction::kPositionalSum;
  }
  int indices() const { return weighted() ? 2 : 1; }             // if sparse
  int segments() const { return indices() + (sparse ? 1 : 0); }  // the last input
  // As in Caffe2, these also accept float16.
  bool takes_half() const { return sparse && by == SegmentsBy::kLengths; }
};

// The positions of the inputs of a gradient operator; -1 for an input that it does not have. It may
// have further inputs that it does not read.
struct SegmentGradient {
  const char* type;
  SegmentsBy by;
  Reduction reduction;
  int inputs;  // their number
  int gradient;
  int segments;
  int scalars = -1;
  int data = -1;
  int output = -1;                       // the output of the forward operator
  int indices = -1;                      // into data
  int min_outputs = 1, max_outputs = 1;  // output 1 is the gradient of the scalars

  // The gradients of sums and means have DATA and OUTPUT as inputs, but do not need them.
  bool reads_output() const {
    return reduction != Reduction::kSum && reduction != Reduction::kMean;
  }
};

std::span<const SegmentReduction> SegmentReductions();
std::span<const SegmentGradient> SegmentGradients();
#pragma GCC visibility push(default)  // for libcaffe2_cuda
// The row of a type. THROWS if there is none.
const SegmentReduction& SegmentReductionOf(const std::string& type);
const SegmentGradient& SegmentGradientOf(const std::string& type);
#pragma GCC visibility pop

// For documentation: the names of the inputs, and what the operators compute.
const char* NameOf(SegmentsBy by);  // "SEGMENT_IDS" or "LENGTHS"
const char* DocOf(SegmentsBy by);
const char* DocOf(Reduction reduction);

}  // namespace caffe2rt
