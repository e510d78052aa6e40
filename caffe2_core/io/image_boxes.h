#pragma once
// Draws boxes, such as the detections of a net, into an image.

#include <array>
#include <cstdint>

#include "caffe2_core/io/image.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

struct ImagePoint {
  float x = 0;  // pixels from the left edge
  float y = 0;  // pixels from the upper edge
};

struct DrawnBox {
  std::array<ImagePoint, 4> corners = {};  // in order around the box
  int64_t color = 0;                       // an index: equal numbers have equal colors
  int64_t number = -1;                     // drawn at the first corner, if not negative
};

// The box between two corners.
DrawnBox UprightBox(const ImagePoint& low, const ImagePoint& high);
// A box turned counterclockwise around its center.
DrawnBox TurnedBox(const ImagePoint& center, float width, float height, float degrees);

// Draws the outline and the number of a box; parts outside the image are left out. Coordinates may
// be any numbers, a box with one that is not finite is left out.
void DrawBox(const DrawnBox& box, Image* image);

}  // namespace caffe2rt
#pragma GCC visibility pop
