#include "operators/conv/conv_shape.h"

#include <utility>

namespace caffe2rt {

namespace {

template <class To, class From>
To Reversed(const From& shape) {
  To to;
  to.window = shape.window;
  to.window.channels = shape.out_channels;
  to.out_channels = shape.window.channels;
  to.group = shape.group;
  for (int i = 0; i < shape.window.axes; ++i) {
    WindowAxis& axis = to.window.axis[static_cast<size_t>(i)];
    std::swap(axis.in, axis.out);
    axis.adj = 0;
  }
  return to;
}

}  // namespace

ConvTransposeShape Transposed(const ConvShape& shape) {
  return Reversed<ConvTransposeShape>(shape);
}

ConvShape Transposed(const ConvTransposeShape& shape) { return Reversed<ConvShape>(shape); }

bool ConvShape::IsPointwise() const {
  for (int i = 0; i < window.axes; ++i) {
    const WindowAxis& axis = window.axis[static_cast<size_t>(i)];
    if (axis.kernel != 1 || axis.stride != 1 || axis.pad_head != 0 || axis.out != axis.in) {
      return false;
    }
  }
  return true;
}

double ConvShape::MultiplyAdds() const {
  double count = static_cast<double>(window.batch) * static_cast<double>(out_channels) *
                 static_cast<double>(in_group());
  for (int i = 0; i < window.axes; ++i) {
    const WindowAxis& axis = window.axis[static_cast<size_t>(i)];
    count *= static_cast<double>(axis.out) * static_cast<double>(axis.kernel);
  }
  return count;
}

}  // namespace caffe2rt
