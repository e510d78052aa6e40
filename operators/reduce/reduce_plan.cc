#include "operators/reduce/reduce_plan.h"

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/base/enforce.h"

namespace caffe2rt {

void ReducePlan::Make(IntArrayRef dims, const std::vector<char>& reduced) {
  CAFFE_ENFORCE(dims.size() == reduced.size() && dims.size() <= Tensor::kMaxRank,
                "number of marked dimensions: ", reduced.size(), ", want ", dims.size());
  output_size_ = 1;
  reduced_size_ = 1;
  for (size_t i = 0; i < dims.size(); ++i) {
    int64_t& size = reduced[i] ? reduced_size_ : output_size_;
    size = CheckedMultiply(size, dims[i]);
  }
  if (output_size_ == 0 || reduced_size_ == 0) return;

  // Merges neighbouring dimensions of the same kind, from the innermost outwards.
  std::array<Loop, Tensor::kMaxRank> loops;
  int count = 0;
  bool last = false;
  int64_t y_step = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    if (dims[i] == 1) continue;
    const bool goes = reduced[i] != 0;
    if (count > 0 && goes == last) {
      loops[static_cast<size_t>(count - 1)].size *= dims[i];
    } else {
      loops[static_cast<size_t>(count++)] = {dims[i], goes ? 0 : y_step};
      last = goes;
    }
    if (!goes) y_step *= dims[i];
  }
  inner_ = count > 0 ? loops[0] : Loop{1, 1};
  middle_ = count > 1 ? loops[1] : Loop{1, 0};
  outer_count_ = count > 2 ? count - 2 : 0;
  for (int i = 0; i < outer_count_; ++i) {
    outer_[static_cast<size_t>(outer_count_ - 1 - i)] = loops[static_cast<size_t>(i + 2)];
  }
}

}  // namespace caffe2rt
