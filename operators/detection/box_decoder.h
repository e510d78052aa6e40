#pragma once
// Boxes and their regression. A box is x1, y1, x2, y2; a rotated box is the center x, y, the width,
// the height and the angle in degrees.

#include <cstdint>

#include "caffe2_core/graph/arguments.h"

namespace caffe2rt {

inline constexpr ArgumentSpec<bool> kBoxLegacyPlusOne{
    "legacy_plus_one", true, "1: a box from x1 to x2 is x2 - x1 + 1 wide; 0: it is x2 - x1 wide"};
inline constexpr ArgumentSpec<bool> kBoxAngleBoundOn{
    "angle_bound_on", true,
    "1: an angle below angle_bound_lo is increased, and one above angle_bound_hi decreased, by the "
    "difference of the two"};
inline constexpr ArgumentSpec<int> kBoxAngleBoundLo{"angle_bound_lo", -90, "degrees"};
inline constexpr ArgumentSpec<int> kBoxAngleBoundHi{
    "angle_bound_hi", 90, "degrees, angle_bound_lo plus a multiple of 180"};
inline constexpr ArgumentSpec<float> kBoxClipAngleThresh{
    "clip_angle_thresh", 1.0f,
    "a rotated box is clipped to the image if its angle is at most this many degrees; below 0: "
    "never"};

// Applies the deltas that a net predicts to boxes.
struct BoxDecoder {
  bool rotated = false;
  bool bound_angle = true;
  int low = -90, high = 90;  // bounds of the angle
  float clip_angle = 1;
  float one = 1;  // the difference between the width of a box and x2 - x1
  float weights[4] = {1, 1, 1, 1};

  int64_t dim() const { return rotated ? 5 : 4; }
  // THROWS if the angles are bounded and the bounds are not a multiple of 180 degrees apart.
  void Check() const;
  // Writes the box that `delta` makes of `box`: the offset of the center in widths and heights, the
  // logarithm of the factor of the width and the height, and the change of the angle in radians.
  void Decode(const float* box, const float* delta, float* decoded) const;
  // Clips the box to an image. A rotated box is clipped only if its angle is small.
  void Clip(float height, float width, float* box) const;
};

// Reads the arguments above, of which only a part has an effect on boxes that are not rotated.
BoxDecoder ReadBoxDecoder(const ArgumentHelper& args);

}  // namespace caffe2rt
