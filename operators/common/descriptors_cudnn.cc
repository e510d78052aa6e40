#include "operators/common/descriptors_cudnn.h"

namespace caffe2rt {

namespace {

constexpr int64_t kLargest = std::numeric_limits<int>::max();

}  // namespace

bool HasEvenPads(const WindowAxis& axis, int64_t from, int64_t to) {
  const int64_t room = from + 2 * axis.pad_head - axis.extent();
  return room >= 0 && room / axis.stride + 1 == to;
}

bool CudnnWindow::Make(const WindowGeometry& geometry, bool transposed, CudnnWindow* window,
                       std::string* reason) {
  if (geometry.axes < 1 || geometry.axes > 3) {
    *reason = MakeString("number of axes is ", geometry.axes, ", cuDNN supports 1 to 3");
    return false;
  }
  *window = CudnnWindow();
  window->axes = geometry.axes == 1 ? 2 : geometry.axes;
  window->in.fill(1);
  window->out.fill(1);
  window->kernel.fill(1);
  window->stride.fill(1);
  window->dilation.fill(1);
  int64_t in = geometry.batch * geometry.channels, out = in;
  for (int i = 0; i < geometry.axes; ++i) {
    const WindowAxis& axis = geometry.axis[static_cast<size_t>(i)];
    if (axis.pad_head < 0 || axis.dilation < 1) {
      *reason = MakeString("axis ", i, " has pad ", axis.pad_head, " and dilation ", axis.dilation,
                           ", cuDNN supports at least 0 and 1");
      return false;
    }
    in *= axis.in;
    out *= axis.out;
    if (in > kLargest || out > kLargest || axis.kernel > kLargest || axis.stride > kLargest ||
        axis.pad_head > kLargest || axis.dilation > kLargest) {
      *reason = "cuDNN supports fewer than 2^31 elements";
      return false;
    }
    if (transposed ? !HasEvenPads(axis, axis.out, axis.in)
                   : !HasEvenPads(axis, axis.in, axis.out)) {
      *reason = MakeString("axis ", i, " has pads ", axis.pad_head, " and ", axis.pad_tail,
                           ", for which cuDNN computes another number of windows");
      return false;
    }
    const size_t to = static_cast<size_t>(i + window->axes - geometry.axes);
    window->in[to] = static_cast<int>(axis.in);
    window->out[to] = static_cast<int>(axis.out);
    window->kernel[to] = static_cast<int>(axis.kernel);
    window->stride[to] = static_cast<int>(axis.stride);
    window->dilation[to] = static_cast<int>(axis.dilation);
    window->pad[to] = static_cast<int>(axis.pad_head);
  }
  return true;
}

}  // namespace caffe2rt
