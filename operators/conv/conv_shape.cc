#include "operators/conv/conv_shape.h"

namespace caffe2rt {

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
