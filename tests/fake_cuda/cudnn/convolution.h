#pragma once

// The arithmetic of convolutions, on dense arrays in NCDHW order.

#include <array>

#include "cudnn/layout.h"

namespace fakecuda {

// One convolution. One- and two-dimensional ones have leading sizes of 1.
struct Convolution {
  int n = 1;
  int c = 1;  // channels of x
  int k = 1;  // channels of y
  int groups = 1;
  std::array<int, 3> in{1, 1, 1}, out{1, 1, 1}, kernel{1, 1, 1};
  std::array<int, 3> pad{0, 0, 0}, stride{1, 1, 1}, dilation{1, 1, 1};
  bool flipped = false;  // true convolution (flipped kernel), not cross-correlation
};

// y, dx and dw, each computed from the other two tensors.
Values ConvolutionForward(const Convolution& conv, const Values& x, const Values& w);
Values ConvolutionBackwardData(const Convolution& conv, const Values& dy, const Values& w);
Values ConvolutionBackwardFilter(const Convolution& conv, const Values& x, const Values& dy);

}  // namespace fakecuda
