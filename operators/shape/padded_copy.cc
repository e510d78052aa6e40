#include "operators/shape/padded_copy.h"

#include <algorithm>

#include "caffe2_core/base/checked_math.h"
#include "operators/common/strided_copy.h"

namespace caffe2rt {

namespace {

// The index, of 0 to size - 1, whose element stands at `place`, which may lie outside.
int64_t RepeatedIndex(int64_t place, int64_t size, PadMode mode) {
  if (place >= 0 && place < size) return place;
  if (mode == PadMode::kEdge || size == 1) return place < 0 ? 0 : size - 1;
  const int64_t period = mode == PadMode::kWrap ? size : 2 * (size - 1);
  int64_t index = place % period;
  if (index < 0) index += period;
  return index < size ? index : period - index;
}

}  // namespace

void PaddedCopy::Plan(IntArrayRef input, IntArrayRef axes, IntArrayRef pads, PadMode mode) {
  CAFFE_ENFORCE_EQ(pads.size(), 2 * axes.size(), "elements of pads, want two for each of ",
                   axes.size(), " axes");
  mode_ = mode;
  input_.assign(input.begin(), input.end());
  before_.assign(input.size(), 0);
  after_.assign(input.size(), 0);
  dims_ = input_;
  for (size_t i = 0; i < axes.size(); ++i) {
    const size_t axis = static_cast<size_t>(axes[i]);
    const int64_t before = pads[i], after = pads[i + axes.size()], size = input[axis];
    const int64_t left =
        CheckedAdd(size, CheckedAdd(std::min<int64_t>(before, 0), std::min<int64_t>(after, 0)));
    CAFFE_ENFORCE_GE(left, 0, "dim ", axis, " of input 0 of shape ", input, " padded by ", before,
                     " and ", after, ", elements that are left");
    CAFFE_ENFORCE(mode == PadMode::kConstant || left > 0 || (before <= 0 && after <= 0), "dim ",
                  axis, " of input 0 of shape ", input, " padded by ", before, " and ", after,
                  " has no elements that could be repeated");
    dims_[axis] = CheckedAdd(size, CheckedAdd(before, after));
    before_[axis] = before;
    after_[axis] = after;
  }
  (void)CheckedProduct(dims_);
}

void PaddedCopy::FillTables() {
  size_t total = 0;
  for (const int64_t dim : dims_) total += static_cast<size_t>(dim);
  offsets_.resize(total);
  tables_.assign(dims_.size(), nullptr);
  int64_t stride = 1;
  int64_t* table = offsets_.data();
  for (size_t axis = dims_.size(); axis-- > 0;) {
    const int64_t first = std::max<int64_t>(-before_[axis], 0);  // of the elements that are left
    const int64_t size = input_[axis] - first + std::min<int64_t>(after_[axis], 0);
    const int64_t added = std::max<int64_t>(before_[axis], 0);
    for (int64_t i = 0; i < dims_[axis]; ++i)
      table[i] = (first + RepeatedIndex(i - added, size, mode_)) * stride;
    tables_[axis] = table;
    table += dims_[axis];
    stride *= input_[axis];
  }
}

void PaddedCopy::Run(TypeMeta type, const void* x, const void* value, void* y) {
  const int64_t total = CheckedProduct(dims_);
  if (total == 0) return;
  if (mode_ != PadMode::kConstant) {
    FillTables();
    CopyByTables(type, dims_, tables_.data(), x, y);
    return;
  }
  StridedCopy copy;
  int64_t src = 1, dst = 1, from = 0, to = 0;  // strides and first elements
  for (size_t axis = dims_.size(); axis-- > 0;) {
    from += std::max<int64_t>(-before_[axis], 0) * src;
    to += std::max<int64_t>(before_[axis], 0) * dst;
    src *= input_[axis];
    dst *= dims_[axis];
  }
  const bool covered =
      std::all_of(before_.begin(), before_.end(), [](int64_t b) { return b <= 0; }) &&
      std::all_of(after_.begin(), after_.end(), [](int64_t a) { return a <= 0; });
  DispatchBySize(type, "input 0 (X)", [&](auto element) {
    using T = decltype(element);
    const T zero{};
    if (!covered) FillWith(type, total, value != nullptr ? value : &zero, y);
    if (src == 0) return;
    int64_t src_stride = src, dst_stride = dst;
    for (size_t axis = 0; axis < dims_.size(); ++axis) {
      src_stride /= input_[axis];
      dst_stride /= dims_[axis];
      const int64_t size =
          input_[axis] + std::min<int64_t>(before_[axis], 0) + std::min<int64_t>(after_[axis], 0);
      copy.Add(size, src_stride, dst_stride);
    }
    copy.Run(type, static_cast<const T*>(x) + from, static_cast<T*>(y) + to);
  });
}

}  // namespace caffe2rt
