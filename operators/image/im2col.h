#pragma once
// Im2Col: the windows of images as columns. Col2Im: adds the columns up to images; each is the
// gradient of the other.
//   X [N, C, H, W]  ->  Y [N, C * kernel_h * kernel_w, rows, columns], order NCHW
//   X [N, H, W, C]  ->  Y [N, rows, columns, kernel_h * kernel_w * C], order NHWC
//   columns, X (for its shape)  ->  image [as X]
// All sides have the same padding. Supports float only.

#include <vector>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/runtime/operator.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/order_argument.h"
#include "operators/math/images.h"

namespace caffe2rt {

// Arguments of one axis; the vertical one comes first.
struct ColumnWindow {
  int kernel[2], stride[2], dilation[2];
  int pad = 0;
  StorageOrder order = NCHW;
};

struct ColumnSizes {
  int channels = 0, height = 0, width = 0;
  std::vector<int64_t> columns;  // the shape of Y
  int64_t image_size = 0, column_size = 0;
};

#pragma GCC visibility push(default)  // for libcaffe2_cuda
ColumnWindow ReadColumnWindow(const ArgumentHelper& args);
// THROWS if X is not a batch of images that are as large as the window.
void PlanColumns(IntArrayRef x, const ColumnWindow& window, ColumnSizes* sizes);
#pragma GCC visibility pop

template <class Context, bool kToImage>
class ColumnsOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  ColumnsOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws), window_(ReadColumnWindow(this->args())) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(kToImage ? 1 : 0);
    PlanColumns(X.sizes(), window_, &sizes_);
    if constexpr (kToImage) {
      CAFFE_ENFORCE(Input(0).sizes() == IntArrayRef(sizes_.columns), "input 0 (columns) has shape ",
                    Input(0).sizes(), ", want ", IntArrayRef(sizes_.columns),
                    ": the windows of input 1 (X) of shape ", X.sizes());
    }
    const float* from = Input(0).template data<float>();
    float* to = this->template OutputData<float>(0, kToImage ? X.sizes() : sizes_.columns);
    const int64_t images = X.dim(0);
    for (int64_t i = 0; i < images && sizes_.channels > 0; ++i) {
      if (window_.order == NCHW) {
        Convert<NCHW>(from, to);
      } else {
        Convert<NHWC>(from, to);
      }
      from += kToImage ? sizes_.column_size : sizes_.image_size;
      to += kToImage ? sizes_.image_size : sizes_.column_size;
    }
    return true;
  }

 private:
  template <StorageOrder kOrder>
  void Convert(const float* from, float* to) {
    const ColumnWindow& w = window_;
    if constexpr (kToImage) {
      math::Col2Im<float, Context, kOrder>(
          sizes_.channels, sizes_.height, sizes_.width, w.kernel[0], w.kernel[1], w.dilation[0],
          w.dilation[1], w.pad, w.pad, w.pad, w.pad, w.stride[0], w.stride[1], from, to, &context_);
    } else {
      math::Im2Col<float, Context, kOrder>(
          sizes_.channels, sizes_.height, sizes_.width, w.kernel[0], w.kernel[1], w.dilation[0],
          w.dilation[1], w.pad, w.pad, w.pad, w.pad, w.stride[0], w.stride[1], from, to, &context_);
    }
  }

  const ColumnWindow window_;
  ColumnSizes sizes_;
};

}  // namespace caffe2rt
