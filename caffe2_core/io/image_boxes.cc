#include "caffe2_core/io/image_boxes.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "caffe2_core/base/enforce.h"

namespace caffe2rt {
namespace {

using Color = std::array<uint8_t, 3>;

constexpr Color kColors[] = {{230, 60, 50},  {40, 160, 70}, {50, 100, 230}, {230, 160, 0},
                             {160, 60, 200}, {0, 170, 180}, {220, 70, 150}, {130, 160, 20}};
constexpr Color kWhite = {255, 255, 255};

// 3 x 5 pixels for each digit, a row in 3 bits.
constexpr int kDigitWidth = 3, kDigitHeight = 5;
constexpr uint8_t kDigits[10][kDigitHeight] = {
    {7, 5, 5, 5, 7}, {2, 6, 2, 2, 7}, {7, 1, 7, 4, 7}, {7, 1, 7, 1, 7}, {5, 5, 7, 1, 1},
    {7, 4, 7, 1, 7}, {7, 4, 7, 5, 7}, {7, 1, 1, 2, 2}, {7, 5, 7, 5, 7}, {7, 5, 7, 1, 7}};

// Fills the part of a rectangle that is inside the image. The bounds may be far outside.
void FillRectangle(int64_t x, int64_t y, int64_t width, int64_t height, const Color& color,
                   Image* image) {
  const int64_t right = std::min<int64_t>(x + width, image->width);
  const int64_t bottom = std::min<int64_t>(y + height, image->height);
  for (int64_t row = std::max<int64_t>(y, 0); row < bottom; ++row) {
    for (int64_t column = std::max<int64_t>(x, 0); column < right; ++column) {
      const auto at = static_cast<size_t>((row * image->width + column) * 3);
      std::copy(color.begin(), color.end(), image->rgb.begin() + static_cast<ptrdiff_t>(at));
    }
  }
}

// Moves a point that is far outside the image to where the work of a line is bounded.
ImagePoint Bounded(const ImagePoint& point, const Image& image) {
  const auto bound = [](float value, int size) {
    return std::clamp(value, -2.f * static_cast<float>(size), 3.f * static_cast<float>(size));
  };
  return {bound(point.x, image.width), bound(point.y, image.height)};
}

void DrawBoxLine(const ImagePoint& from, const ImagePoint& to, int thickness, const Color& color,
                 Image* image) {
  const ImagePoint a = Bounded(from, *image), b = Bounded(to, *image);
  const float length = std::max(std::abs(b.x - a.x), std::abs(b.y - a.y));
  const int64_t steps = std::max<int64_t>(1, std::lround(std::ceil(length)));
  for (int64_t i = 0; i <= steps; ++i) {
    const float part = static_cast<float>(i) / static_cast<float>(steps);
    FillRectangle(std::lround(a.x + part * (b.x - a.x)) - thickness / 2,
                  std::lround(a.y + part * (b.y - a.y)) - thickness / 2, thickness, thickness,
                  color, image);
  }
}

// Draws digits on a background of the color. `scale`: the size of a pixel of a digit.
void DrawNumber(int64_t number, const ImagePoint& at, int scale, const Color& color, Image* image) {
  const std::string digits = MakeString(number);
  const ImagePoint corner = Bounded(at, *image);
  const int64_t step = int64_t{kDigitWidth + 1} * scale;
  const int64_t width = static_cast<int64_t>(digits.size()) * step + scale;
  const int64_t height = int64_t{kDigitHeight + 2} * scale;
  // Inside the image, where the box begins outside.
  const int64_t x =
      std::clamp<int64_t>(std::lround(corner.x), 0, std::max<int64_t>(image->width - width, 0));
  const int64_t y =
      std::clamp<int64_t>(std::lround(corner.y), 0, std::max<int64_t>(image->height - height, 0));
  FillRectangle(x, y, width, height, color, image);
  for (size_t i = 0; i < digits.size(); ++i) {
    const uint8_t* const rows = kDigits[digits[i] - '0'];
    for (int row = 0; row < kDigitHeight; ++row) {
      for (int column = 0; column < kDigitWidth; ++column) {
        if ((rows[row] >> (kDigitWidth - 1 - column) & 1) == 0) continue;
        FillRectangle(x + scale + static_cast<int64_t>(i) * step + int64_t{column} * scale,
                      y + int64_t{row + 1} * scale, scale, scale, kWhite, image);
      }
    }
  }
}

}  // namespace

DrawnBox UprightBox(const ImagePoint& low, const ImagePoint& high) {
  return {.corners = {low, {high.x, low.y}, high, {low.x, high.y}}};
}

DrawnBox TurnedBox(const ImagePoint& center, float width, float height, float degrees) {
  const float angle = degrees * std::numbers::pi_v<float> / 180;
  const float cosine = std::cos(angle), sine = std::sin(angle);
  DrawnBox box;
  const std::array<ImagePoint, 4> signs = {{{-1, -1}, {1, -1}, {1, 1}, {-1, 1}}};
  for (size_t i = 0; i < signs.size(); ++i) {
    const float x = signs[i].x * width / 2, y = signs[i].y * height / 2;
    // The y axis points down.
    box.corners[i] = {center.x + x * cosine + y * sine, center.y - x * sine + y * cosine};
  }
  return box;
}

void DrawBox(const DrawnBox& box, Image* image) {
  CAFFE_ENFORCE(image != nullptr, "argument image of DrawBox is null");
  for (const ImagePoint& corner : box.corners) {
    if (!std::isfinite(corner.x) || !std::isfinite(corner.y)) return;
  }
  constexpr int kPixelsPerLine = 300;  // of the image's shorter side, for each pixel of the line
  const int thickness = 1 + std::min(image->width, image->height) / kPixelsPerLine;
  const auto colors = static_cast<int64_t>(std::size(kColors));
  const Color& color = kColors[(box.color % colors + colors) % colors];
  for (size_t i = 0; i < box.corners.size(); ++i)
    DrawBoxLine(box.corners[i], box.corners[(i + 1) % box.corners.size()], thickness, color, image);
  if (box.number >= 0) DrawNumber(box.number, box.corners[0], thickness, color, image);
}

}  // namespace caffe2rt
