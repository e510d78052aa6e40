#pragma once
// Windows over quantized images: the arguments of convolutions and pools (conv_geometry.h), with
// the restrictions of the Int8 operators: order NHWC and two axes.

#include "operators/common/conv_geometry.h"

namespace caffe2rt {

// Reads the window arguments. THROWS what ParseWindowArguments throws, and unless order is NHWC.
WindowArguments ReadNhwcWindow(const ArgumentHelper& args, WindowUse use);

// The geometry for images of shape `dims`. THROWS what MakeWindowGeometry throws, and unless the
// rank is 4 and dilations are above 0.
WindowGeometry MakeImageGeometry(const WindowArguments& window, IntArrayRef dims);

// The part of a window that lies inside an axis: taps first .. end - 1. REQUIRES: dilation > 0.
struct TapRange {
  int64_t first = 0, end = 0;
};
TapRange TapsInside(const WindowAxis& axis, int64_t window);

// For ParallelFor: as many pieces as threads, but at most `jobs`.
int PiecesOf(int64_t jobs);

}  // namespace caffe2rt
