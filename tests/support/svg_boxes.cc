#include "tests/support/svg_boxes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <regex>

#include "caffe2_core/base/text.h"

namespace caffe2rt::test {
namespace {

double NumberIn(const std::string& text, const std::string& name) {
  const size_t begin = text.find(" " + name + "=\"");
  if (begin == std::string::npos) return -1;
  const size_t first = begin + name.size() + 3;
  double number = -1;
  ParseNumber(text.substr(first, text.find('"', first) - first), &number);
  return number;
}

SvgBox BoxOfRect(const std::string& rect) {
  return {NumberIn(rect, "x"), NumberIn(rect, "y"), NumberIn(rect, "width"),
          NumberIn(rect, "height")};
}

bool Overlap(const SvgBox& a, const SvgBox& b) {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

bool Contains(const SvgBox& a, const SvgBox& b) {
  return a.x <= b.x && a.y <= b.y && b.x + b.width <= a.x + a.width &&
         b.y + b.height <= a.y + a.height;
}

void ExpectFramesCutNothing(const std::string& svg, const std::vector<SvgBox>& boxes) {
  const std::vector<SvgBox> frames = FramesOfSvg(svg);
  for (size_t i = 0; i < frames.size(); ++i) {
    const SvgBox& frame = frames[i];
    for (const SvgBox& box : boxes) {
      EXPECT_TRUE(!Overlap(frame, box) || Contains(frame, box))
          << "the frame at " << frame.x << ", " << frame.y << " cuts the box at " << box.x << ", "
          << box.y;
    }
    for (size_t k = 0; k < i; ++k) {
      EXPECT_TRUE(!Overlap(frame, frames[k]) || Contains(frame, frames[k]) ||
                  Contains(frames[k], frame))
          << "frames cut each other at " << frame.x << ", " << frame.y;
    }
  }
}

void ExpectLegendReadable(const std::string& svg, double width, double height) {
  std::vector<SvgBox> swatches;
  const std::string start = "<rect class=\"swatch ";
  for (size_t at = 0; (at = svg.find(start, at)) != std::string::npos; at += start.size()) {
    const SvgBox a = BoxOfRect(svg.substr(at, svg.find('>', at) - at));
    EXPECT_TRUE(a.x >= 0 && a.y >= 0 && a.x + a.width <= width && a.y + a.height <= height);
    for (const SvgBox& b : swatches) {
      EXPECT_FALSE(Overlap(a, b)) << "entries of the legend overlap at " << a.x << ", " << a.y;
    }
    swatches.push_back(a);
  }
}

}  // namespace

std::vector<SvgBox> FramesOfSvg(const std::string& svg) {
  std::vector<SvgBox> frames;
  const std::string start = "<g class=\"frame ";
  for (size_t at = 0; (at = svg.find(start, at)) != std::string::npos; at += start.size()) {
    const size_t rect = svg.find("<rect", at);
    frames.push_back(BoxOfRect(svg.substr(rect, svg.find('>', rect) - rect)));
  }
  return frames;
}

std::vector<SvgBox> BoxesOfSvg(const std::string& svg) {
  std::vector<SvgBox> boxes;
  const std::string start = "<rect class=\"box\"";
  for (size_t at = 0; (at = svg.find(start, at)) != std::string::npos; at += start.size()) {
    const std::string rect = svg.substr(at, svg.find('>', at) - at);
    boxes.push_back(BoxOfRect(rect));
  }
  return boxes;
}

void ExpectReadable(const std::string& svg) {
  const size_t begin = svg.find("<svg ");
  ASSERT_NE(begin, std::string::npos);
  const std::string head = svg.substr(begin, svg.find('>', begin) - begin);
  const double width = NumberIn(head, "width"), height = NumberIn(head, "height");
  const size_t view = head.find("viewBox=\"0 0 ");
  ASSERT_NE(view, std::string::npos) << head;
  double view_width = 0;
  const size_t first = view + 13;
  ASSERT_TRUE(ParseNumber(head.substr(first, head.find(' ', first) - first), &view_width)) << head;
  EXPECT_EQ(view_width, width) << "scaled";
  static const std::regex font("font-size:([0-9.]+)px");
  int fonts = 0;
  for (std::sregex_iterator it(svg.begin(), svg.end(), font), end; it != end; ++it, ++fonts) {
    double size = 0;
    EXPECT_TRUE(ParseNumber(it->str(1), &size));
    EXPECT_GE(size, 9) << it->str();
  }
  EXPECT_GT(fonts, 0);
  ExpectLegendReadable(svg, width, height);
  std::vector<SvgBox> boxes = BoxesOfSvg(svg);
  ExpectFramesCutNothing(svg, boxes);
  std::sort(boxes.begin(), boxes.end(), [](const SvgBox& a, const SvgBox& b) { return a.y < b.y; });
  for (size_t i = 0; i < boxes.size(); ++i) {
    const SvgBox& a = boxes[i];
    EXPECT_TRUE(a.x >= 0 && a.y >= 0 && a.x + a.width <= width && a.y + a.height <= height);
    for (size_t k = i + 1; k < boxes.size() && boxes[k].y < a.y + a.height; ++k) {
      const SvgBox& b = boxes[k];
      EXPECT_TRUE(b.x >= a.x + a.width || a.x >= b.x + b.width)
          << "boxes overlap at " << a.x << ", " << a.y << " and " << b.x << ", " << b.y;
    }
  }
}

}  // namespace caffe2rt::test
