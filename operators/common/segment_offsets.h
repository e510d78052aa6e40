#pragma once
// Segments of consecutive rows that an input of lengths describes. The host reads and checks the
// lengths on every device, because shapes depend on them; kernels get a table of offsets.
//
//   SegmentOffsets<Context> segments_;                       // a member
//   segments_.Read<int32_t>(*this, 1, "input 1 (lengths)");  // in RunOnDevice
//   PackRows(context_, segments_.OnDevice(context_), ...);

#include <algorithm>
#include <cstdint>
#include <limits>

#include "caffe2_core/base/checked_math.h"
#include "operators/common/host_input.h"

namespace caffe2rt {

// A table of numbers that the host computes and kernels read.
template <class Context>
class HostTable {
 public:
  // Returns host memory for `size` numbers, with undefined contents.
  int64_t* Resize(int64_t size) {
    host_.Resize(size);
    return host_.template mutable_data<int64_t>();
  }
  int64_t size() const { return host_.numel(); }
  const int64_t* OnHost() const { return host_.template data<int64_t>(); }
  // The table in the memory of the context's device, copied there by this call.
  const int64_t* OnDevice(Context& context) {
    if constexpr (Context::GetDeviceType() == CPU) {
      return OnHost();
    } else {
      device_.CopyFrom(host_, &context);
      return device_.template data<int64_t>();
    }
  }

 private:
  Tensor host_{CPU};
  Tensor device_{Context::GetDeviceType()};
};

// Segment s consists of the rows from offset(s) up to, but excluding, offset(s + 1).
template <class Context>
class SegmentOffsets {
 public:
  // Reads input `i`: the lengths of all segments. Longer lengths count as `limit`. THROWS if the
  // elements are not of type Length, or one is negative.
  template <class Length>
  void Read(Operator<Context>& op, int i, const char* subject,
            int64_t limit = std::numeric_limits<int64_t>::max()) {
    const Tensor& lengths = input_.Read(op, i);
    const Length* const length = lengths.template data<Length>();
    count_ = lengths.numel();
    int64_t* const offset = table_.Resize(count_ + 1);
    offset[0] = 0;
    longest_ = 0;
    for (int64_t s = 0; s < count_; ++s) {
      CAFFE_ENFORCE_GE(length[s], 0, "element ", s, " of ", subject, ", want at least 0");
      longest_ = std::max<int64_t>(longest_, length[s]);
      offset[s + 1] = CheckedAdd<int64_t>(offset[s], std::min<int64_t>(length[s], limit));
    }
  }
  // Makes one segment of `rows` rows.
  void SetOne(int64_t rows) {
    count_ = 1;
    longest_ = rows;
    int64_t* const offset = table_.Resize(2);
    offset[0] = 0;
    offset[1] = rows;
  }

  int64_t count() const { return count_; }
  int64_t total() const { return offset(count_); }
  int64_t offset(int64_t s) const { return table_.OnHost()[s]; }
  int64_t length(int64_t s) const { return offset(s + 1) - offset(s); }
  // The longest length before the limit was applied.
  int64_t longest() const { return longest_; }
  // The count() + 1 offsets.
  const int64_t* OnHost() const { return table_.OnHost(); }
  const int64_t* OnDevice(Context& context) { return table_.OnDevice(context); }

 private:
  HostInput input_;
  HostTable<Context> table_;
  int64_t count_ = 0;
  int64_t longest_ = 0;
};

}  // namespace caffe2rt
