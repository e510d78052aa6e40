#pragma once
// The orientation of photographs: cameras store the pixels as the sensor saw them, and state in Exif
// data how to turn them.

#include <string_view>

#include "caffe2_core/io/image.h"

#pragma GCC visibility push(default)  // for the tests
namespace caffe2rt::internal {

// The value 1 to 8 of the Exif tag Orientation (0x0112) in a JPEG or PNG file; 1, upright, if the
// file states none or its Exif data are damaged. Never throws: damaged metadata are no reason to
// reject an image.
int OrientationOfJpeg(std::string_view bytes);
int OrientationOfPng(std::string_view bytes);

// Returns the image upright. `orientation` states where row 0 and column 0 of `image` are in the
// upright image: 1 top and left, 2 top and right, 3 bottom and right, 4 bottom and left, 5 left and
// top, 6 right and top, 7 right and bottom, 8 left and bottom.
Image Oriented(Image image, int orientation);

}  // namespace caffe2rt::internal
#pragma GCC visibility pop
