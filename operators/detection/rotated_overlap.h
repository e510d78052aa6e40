#pragma once
// The overlap of rotated boxes: center x, y, width, height, angle in degrees.

namespace caffe2rt {

// The area of the intersection of two boxes divided by that of their union. NaN if a number is not
// finite, or if both areas are 0.
float OverlapOfRotatedBoxes(const float* a, const float* b);

}  // namespace caffe2rt
