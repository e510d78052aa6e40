#pragma once
// Padding and cropping of a tensor of any rank: for each dimension a number of elements is added
// before the first and after the last one; a negative number takes elements away. Added elements
// have a constant value, or those of the cropped tensor: its nearest element (edge), the elements
// mirrored at the border without repeating it (reflect), or those of the other end (wrap).
//
//   PaddedCopy padding;                            // a member
//   padding.Plan(X.sizes(), axes, pads, mode);     // pads: all numbers before, then all after
//   Tensor* Y = Output(0, padding.dims(), type);
//   padding.Run(type, x, value, y);

#include <cstdint>
#include <vector>

#include "caffe2_core/tensor/tensor.h"

namespace caffe2rt {

enum class PadMode : uint8_t { kConstant, kReflect, kEdge, kWrap };

class PaddedCopy {
 public:
  // Computes the shape of the output. `axes` are non-negative. THROWS if the numbers do not fit the
  // axes, take away more than there is, or a mode has no elements to repeat.
  void Plan(IntArrayRef input, IntArrayRef axes, IntArrayRef pads, PadMode mode);
  const std::vector<int64_t>& dims() const { return dims_; }
  // Writes the output. `value` is used in the constant mode; null: zero, or the empty string.
  void Run(TypeMeta type, const void* x, const void* value, void* y);

 private:
  void FillTables();

  PadMode mode_ = PadMode::kConstant;
  std::vector<int64_t> input_, before_, after_, dims_;
  std::vector<int64_t> offsets_;  // for each dimension, the offset in x of each index
  std::vector<const int64_t*> tables_;
};

}  // namespace caffe2rt
