#include "operators/int8/int8_window.h"

#include <algorithm>

#include "caffe2_core/base/thread_pool.h"

namespace caffe2rt {

WindowArguments ReadNhwcWindow(const ArgumentHelper& args, WindowUse use) {
  WindowArguments window = ParseWindowArguments(args, use);
  CAFFE_ENFORCE(window.order == StorageOrder::NHWC,
                "argument order is NCHW, want NHWC: quantized images have no other order");
  return window;
}

WindowGeometry MakeImageGeometry(const WindowArguments& window, IntArrayRef dims) {
  CAFFE_ENFORCE_EQ(dims.size(), 4u, "rank of input 0 (X) of shape ", dims, ", want [N, H, W, C]");
  for (const int64_t dilation : window.dilation) {
    CAFFE_ENFORCE_GT(dilation, 0, "dilation of a quantized operator");
  }
  return MakeWindowGeometry(window, dims);
}

TapRange TapsInside(const WindowAxis& axis, int64_t window) {
  const int64_t start = window * axis.stride - axis.pad_head;
  const int64_t step = axis.dilation;
  TapRange range;
  range.first = start < 0 ? std::min((-start + step - 1) / step, axis.kernel) : 0;
  const int64_t room = axis.in - start;  // taps at start + i * step < in
  range.end = room <= 0 ? 0 : std::min((room + step - 1) / step, axis.kernel);
  range.end = std::max(range.end, range.first);
  return range;
}

int PiecesOf(int64_t jobs) { return static_cast<int>(std::min<int64_t>(jobs, GetNumThreads())); }

}  // namespace caffe2rt
