#include "operators/quantize/quantization_rows.h"

#include "caffe2_core/base/checked_math.h"

namespace caffe2rt {

void QuantizationRows::Make(IntArrayRef x, IntArrayRef scale, int axis, int64_t block_size) {
  *this = QuantizationRows();
  const int64_t total = CheckedProduct(x);
  if (block_size == 0 && scale.size() <= 1 && CheckedProduct(scale) == 1) {
    length = group_length = total;
    return;
  }
  const int64_t rank = static_cast<int64_t>(x.size());
  CAFFE_ENFORCE(axis >= -rank && axis < rank, "argument axis is ", axis, ", want ", -rank, " to ",
                rank - 1, " for input 0 (X) of shape ", x);
  const size_t at = static_cast<size_t>(axis < 0 ? axis + rank : axis);
  const int64_t outer = CheckedProduct(x.slice(0, at)), inner = CheckedProduct(x.slice(at + 1));
  const int64_t size = x[at];
  if (block_size == 0) {
    CAFFE_ENFORCE(scale.size() == 1 && scale[0] == size, "input 1 (scale) has shape ", scale,
                  ", want one element, or [", size, "] for axis ", at,
                  " of input 0 (X); blocks need the argument block_size");
  } else {
    CAFFE_ENFORCE_EQ(scale.size(), x.size(), "axes of input 1 (scale) with block_size ", block_size,
                     ", want those of input 0 (X) of shape ", x);
    for (size_t i = 0; i < x.size(); ++i) {
      const int64_t want = i == at ? size / block_size + (size % block_size != 0) : x[i];
      CAFFE_ENFORCE_EQ(scale[i], want, "input 1 (scale) of shape ", scale, ": axis ", i,
                       ", want that of input 0 (X) of shape ", x, " in blocks of ", block_size);
    }
  }
  groups = outer;
  group_length = size * inner;
  repeat_sets = block_size == 0;
  if (inner == 1 && block_size == 0) {  // a group is one row, each element has its parameters
    length = set_length = size;
  } else if (inner == 1) {
    length = std::max<int64_t>(1, std::min(block_size, size));
    rows = sets = scale[at];
  } else {
    rows = size;
    length = inner;
    sets = scale[block_size == 0 ? 0 : at];
    rows_per_set = block_size == 0 ? 1 : block_size;
    set_length = block_size == 0 ? 1 : inner;
  }
}

void CheckZeroPointShape(const Tensor& scale, const Tensor& zero_point) {
  CAFFE_ENFORCE(
      zero_point.dims() == scale.dims() || (zero_point.numel() == 1 && scale.numel() == 1),
      "input 2 (zero_point) has shape ", zero_point.sizes(), ", want ", scale.sizes(),
      " as input 1 (scale)");
}

}  // namespace caffe2rt
