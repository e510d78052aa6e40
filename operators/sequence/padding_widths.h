#pragma once
// The arguments and the segments that AddPadding, RemovePadding and GatherPadding share.

#include <string>
#include <vector>

#include "caffe2_core/runtime/operator.h"
#include "operators/common/segment_offsets.h"
#include "operators/sequence/sequence_kernels.h"

namespace caffe2rt {

inline constexpr ArgumentSpec<int> kPaddingWidth{
    "padding_width",
    1,
    "rows of padding before each segment",
    {[](int width) { return width >= 0; }, "at least 0"}};
inline constexpr ArgumentSpec<int> kEndPaddingWidth{
    "end_padding_width", -1, "rows of padding after each segment; negative: padding_width"};

struct PaddingWidths {
  int64_t start = 0;
  int64_t end = 0;
  int64_t both() const { return start + end; }
};
inline PaddingWidths ReadPaddingWidths(const ArgumentHelper& args) {
  const int start = args.Read(kPaddingWidth), end = args.Read(kEndPaddingWidth);
  return {start, end < 0 ? start : end};
}

// The inputs of the operator that undoes `def`: the gradient of output 0 and, if `def` has lengths, its
// output 1. THROWS if it has lengths, but no output 1.
inline std::vector<std::string> PaddingGradientInputs(const OperatorDef& def,
                                                      const std::string& gradient) {
  if (def.input_size() < 2) return {gradient};
  CAFFE_ENFORCE_GT(def.output_size(), 1, "outputs of ", def.type(),
                   ", want output 1 (lengths_out), which the gradient needs because there are "
                   "lengths");
  return {gradient, def.output(1)};
}

// The segments of input 0 (data_in). Their lengths are input 1; without it there is one segment.
template <class Context>
class PaddedSegments : public SegmentOffsets<Context> {
 public:
  void Read(Operator<Context>& op) {
    const Tensor& data = op.Input(0);
    CAFFE_ENFORCE_GE(data.dim(), 1, "rank of input 0 (data_in)");
    if (op.InputSize() < 2) return this->SetOne(data.dim(0));
    SegmentOffsets<Context>::template Read<int32_t>(op, 1, "input 1 (lengths)");
    CAFFE_ENFORCE_LE(this->total(), data.dim(0),
                     "sum of input 1 (lengths), want at most dim 0 of input 0 (data_in) of shape ",
                     data.sizes());
  }
};

// Writes the length of each segment plus `extra` to output 1 (lengths_out), if there is one.
template <class Context>
void WriteLengths(Operator<Context>& op, const SegmentOffsets<Context>& segments, int64_t extra,
                  Tensor* host) {
  if (op.OutputSize() < 2) return;
  host->Resize(segments.count());
  int32_t* const lengths = host->template mutable_data<int32_t>();
  for (int64_t s = 0; s < segments.count(); ++s) {
    lengths[s] = CheckedCast<int32_t>(segments.length(s) + extra, "an output length");
  }
  op.Output(1)->CopyFrom(*host, op.getContext());
}

// With padding of width 0, all outputs are copies of the inputs, whatever they hold.
template <class Context>
void CopyUnpadded(Operator<Context>& op) {
  CAFFE_ENFORCE(op.OutputSize() < 2 || op.InputSize() >= 2,
                "output 1 (lengths_out) needs input 1 (lengths) if the padding widths are 0");
  op.Output(0)->CopyFrom(op.Input(0), op.getContext());
  if (op.OutputSize() > 1) op.Output(1)->CopyFrom(InputAnywhere(op, 1), op.getContext());
}

}  // namespace caffe2rt
