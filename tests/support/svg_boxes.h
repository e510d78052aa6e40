#pragma once
// Reads the boxes of a drawing from its SVG text.

#include <string>
#include <vector>

namespace caffe2rt::test {

struct SvgBox {
  double x = 0, y = 0, width = 0, height = 0;
};

// The boxes of all nodes, in the order of the text.
std::vector<SvgBox> BoxesOfSvg(const std::string& svg);

// The frames around nets and repeated blocks, in the order of the text.
std::vector<SvgBox> FramesOfSvg(const std::string& svg);

// Expects that the image has its size in px without scaling, that all text is at least 9 px high,
// that all boxes are within the image and do not overlap, and that each frame has every box and
// every other frame either inside or outside, and that the entries of the legend do not overlap.
void ExpectReadable(const std::string& svg);

}  // namespace caffe2rt::test
