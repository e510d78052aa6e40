#pragma once
// The input of a segment operator that describes the segments: SEGMENT_IDS or LENGTHS, int32.
//
// On a device the host waits for it, except for unsorted ids whose number of segments is known.

#include <algorithm>
#include <string>
#include <vector>

#include "operators/common/element_type.h"
#include "operators/common/segment_offsets.h"
#include "operators/segment/segment_types.h"

namespace caffe2rt {

inline constexpr ArgumentSpec<int> kNumSegments{
    "num_segments",
    -1,
    "number of segments; -1: the largest id plus 1",
    {[](int count) { return count >= -1; }, "-1 or more"}};

#pragma GCC visibility push(default)  // for libcaffe2_cuda
// Writes the offsets of segments with sorted ids and returns the number of segments. THROWS unless
// the ids start at 0 and each is its predecessor or the next number. `offsets` holds n + 1 numbers.
int64_t OffsetsOfSortedIds(int64_t n, const int32_t* ids, int64_t* offsets);
// THROWS unless all ids are from 0 up to, but excluding, `segments`.
void CheckSegmentIds(int64_t n, const int32_t* ids, int64_t segments);
// For subjects of messages: "input 1 (LENGTHS)".
std::string SubjectOf(SegmentsBy by, int input);
#pragma GCC visibility pop

template <class Context>
class SegmentInput {
 public:
  // THROWS what Read throws for the shape and the element type of input `i`.
  static void Check(const Operator<Context>& op, SegmentsBy by, int i) {
    const Tensor& input = InputAnywhere(op, i);
    CAFFE_ENFORCE_EQ(input.dim(), 1, "rank of ", SubjectOf(by, i), " of shape ", input.sizes(),
                     ", want a vector");
    RequireElements<int32_t>(input);
  }
  // Reads input `i`. For unsorted ids, `segments` is their number, or -1 if it follows from the ids.
  void Read(Operator<Context>& op, SegmentsBy by, int i, int64_t segments) {
    Check(op, by, i);
    by_ = by;
    if (by == SegmentsBy::kLengths) {
      lengths_.template Read<int32_t>(op, i, "input LENGTHS");
      count_ = lengths_.count();
      positions_ = lengths_.total();
      return;
    }
    positions_ = InputAnywhere(op, i).numel();
    if (by == SegmentsBy::kUnsortedIds && segments >= 0 && Context::GetDeviceType() != CPU) {
      count_ = segments;
      ids_ = op.Input(i).template data<int32_t>();
      return;
    }
    const int32_t* const ids = host_.Read(op, i).template data<int32_t>();
    if (by == SegmentsBy::kSortedIds) {
      count_ = OffsetsOfSortedIds(positions_, ids, sorted_.Resize(positions_ + 1));
      return;
    }
    count_ = segments >= 0 || positions_ == 0
                 ? std::max<int64_t>(segments, 0)
                 : int64_t{*std::max_element(ids, ids + positions_)} + 1;
    CheckSegmentIds(positions_, ids, count_);
    ids_ = op.Input(i).template data<int32_t>();
  }

  int64_t count() const { return count_; }
  int64_t positions() const { return positions_; }
  // The most positions of a segment. REQUIRES: lengths.
  int64_t longest() const { return lengths_.longest(); }
  // The ids in the memory of the device. REQUIRES: unsorted ids.
  const int32_t* ids() const { return ids_; }
  // REQUIRES: sorted ids or lengths.
  const int64_t* OffsetsOnDevice(Context& context) {
    return by_ == SegmentsBy::kLengths ? lengths_.OnDevice(context) : sorted_.OnDevice(context);
  }

 private:
  SegmentsBy by_ = SegmentsBy::kLengths;
  SegmentOffsets<Context> lengths_;
  HostInput host_;
  HostTable<Context> sorted_;
  const int32_t* ids_ = nullptr;
  int64_t count_ = 0;
  int64_t positions_ = 0;
};

}  // namespace caffe2rt
