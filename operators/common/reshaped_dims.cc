#include "operators/common/reshaped_dims.h"

#include "caffe2_core/base/checked_math.h"

namespace caffe2rt {

void ReshapedDims(IntArrayRef input, std::vector<int64_t>* dims, bool allow_zero) {
  const int64_t total = CheckedProduct(input);
  int64_t* rest = nullptr;
  int64_t product = 1;
  for (size_t i = 0; i < dims->size(); ++i) {
    int64_t& dim = (*dims)[i];
    if (dim == -1) {
      CAFFE_ENFORCE(rest == nullptr, "shape ", IntArrayRef(*dims), " has more than one -1");
      rest = &dim;
      continue;
    }
    if (dim == 0 && !allow_zero && total != 0 && i < input.size()) dim = input[i];
    CAFFE_ENFORCE_GE(dim, 0, "dim ", i, " of shape ", IntArrayRef(*dims), ", want at least -1");
    product = CheckedMultiply(product, dim);
  }
  if (rest != nullptr && total == 0) {
    *rest = 0;
  } else if (rest != nullptr) {
    CAFFE_ENFORCE(product > 0 && total % product == 0, "input 0 has shape ", input, ", ", total,
                  " elements, which cannot be divided into shape ", IntArrayRef(*dims));
    *rest = total / product;
  } else {
    CAFFE_ENFORCE_EQ(product, total, "elements of shape ", IntArrayRef(*dims),
                     ", want those of input 0 of shape ", input);
  }
}

}  // namespace caffe2rt
