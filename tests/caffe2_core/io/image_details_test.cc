// Images next to the bounds of their formats: where Exif data end, sizes that shrink in one direction
// alone, lines that begin far outside.
#include <gtest/gtest.h>

#include <vector>

#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/image.h"
#include "caffe2_core/io/image_boxes.h"
#include "caffe2_core/io/image_orientation.h"
#include "caffe2_core/io/image_resize.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::image_details_test {
namespace {

using namespace std::string_literals;

// Big endian Exif data with entries of 12 bytes and nothing behind them.
std::string ExifOf(const std::vector<std::string>& entries) {
  std::string exif = "MM\0*\0\0\0\x08\0"s + static_cast<char>(entries.size());
  for (const std::string& entry : entries) exif += entry;
  return exif;
}
const std::string kOther = "\x01\x0f\0\x03\0\0\0\x01\0\x07\0\0"s;
std::string Entry(int orientation) {
  return "\x01\x12\0\x03\0\0\0\x01\0"s + static_cast<char>(orientation) + "\0\0"s;
}
std::string Segment(char marker, const std::string& content) {
  const size_t size = content.size() + 2;
  return "\xff"s + marker + static_cast<char>(size >> 8) + static_cast<char>(size & 255) + content;
}
std::string ExifSegment(const std::string& exif) { return Segment('\xe1', "Exif\0\0"s + exif); }
int OfJpeg(const std::string& segments) {
  return internal::OrientationOfJpeg("\xff\xd8"s + segments);
}

TEST(ImageDetailsTest, OrientationMayBeAnyEntryAndTheLastBytes) {
  EXPECT_EQ(OfJpeg(ExifSegment(ExifOf({Entry(6)}))), 6);
  EXPECT_EQ(OfJpeg(ExifSegment(ExifOf({kOther, Entry(6)}))), 6);
  EXPECT_EQ(OfJpeg(ExifSegment(ExifOf({kOther, kOther, Entry(8), kOther}))), 8);
  EXPECT_EQ(OfJpeg(ExifSegment(ExifOf({kOther, kOther}))), 1);
  EXPECT_EQ(OfJpeg(ExifSegment(ExifOf({Entry(3), Entry(6)}))), 3);  // the first one counts
  const std::string exif = ExifOf({Entry(6)});
  EXPECT_EQ(OfJpeg(ExifSegment(exif.substr(0, exif.size() - 1))), 1);
  std::string long_type = exif;
  long_type[13] = 4;  // a number of four bytes
  EXPECT_EQ(OfJpeg(ExifSegment(long_type)), 1);
  std::string other_magic = exif;
  other_magic[3] = '+';
  EXPECT_EQ(OfJpeg(ExifSegment(other_magic)), 1);
}

TEST(ImageDetailsTest, OrientationOfAJpegIsReadWithinItsSegments) {
  const std::string exif = ExifOf({Entry(6)}), segment = ExifSegment(exif);
  EXPECT_EQ(OfJpeg(Segment('\xfe', "") + segment), 6);    // without content
  EXPECT_EQ(OfJpeg("\xff\xfe\0\1"s + segment), 1);        // shorter than its own size
  EXPECT_EQ(OfJpeg(Segment('\xda', "ab") + segment), 1);  // pixels begin
  EXPECT_EQ(OfJpeg("\xff\xd9"s + segment), 1);            // the image has ended
  EXPECT_EQ(OfJpeg("xx"s + segment), 1);                  // no marker
  // Another segment with such content, and one of that kind with other content.
  EXPECT_EQ(OfJpeg(Segment('\xe2', "Exif\0\0"s + ExifOf({Entry(3)})) + segment), 6);
  EXPECT_EQ(OfJpeg(Segment('\xe1', "http://ns.adobe.com/xap/1.0/"s) + segment), 6);
  EXPECT_EQ(OfJpeg(Segment('\xe1', "Exif\0"s) + segment), 6);
  // The segment says that it goes on behind the end of the file.
  std::string cut = segment;
  cut[3] = static_cast<char>(cut[3] + 1);
  EXPECT_EQ(OfJpeg(cut), 1);
  EXPECT_EQ(OfJpeg(cut + "x"), 6);
  // The entry would be complete with the bytes behind the segment.
  EXPECT_EQ(OfJpeg(ExifSegment(exif.substr(0, exif.size() - 2)) + exif.substr(exif.size() - 2)), 1);
}

TEST(ImageDetailsTest, OrientationOfAPngIsReadWithinItsChunks) {
  const std::string exif = ExifOf({Entry(6)});
  const std::string head = "\x89PNG\r\n\x1a\n\0\0\0"s;
  const std::string png = head + static_cast<char>(exif.size()) + "eXIf" + exif;
  EXPECT_EQ(internal::OrientationOfPng(png), 6);  // the checksum is not read
  EXPECT_EQ(internal::OrientationOfPng(png.substr(0, png.size() - 1)), 1);
  EXPECT_EQ(internal::OrientationOfPng(head + static_cast<char>(exif.size() + 1) + "eXIf" + exif),
            1);
  EXPECT_EQ(internal::OrientationOfPng(head + '\2' + "tEXtab" + "CRC_" + png.substr(8)), 6);
  EXPECT_EQ(internal::OrientationOfPng(head + '\0' + "IEND" + "CRC_" + png.substr(8)), 6);
}

TEST(ImageDetailsTest, NumbersThatAreNoOrientationTurnNothing) {
  const Image stored{.width = 1, .height = 2, .rgb = {1, 2, 3, 4, 5, 6}};
  for (const int orientation : {-1, 0, 1, 9, 100}) {
    const Image image = internal::Oriented(stored, orientation);
    EXPECT_EQ(image.width, 1);
    EXPECT_EQ(image.rgb, stored.rgb);
  }
}

// Grey pixels.
Image GreyOf(int width, int height, const std::vector<int>& values) {
  Image image{.width = width, .height = height, .rgb = {}};
  for (const int value : values) image.rgb.insert(image.rgb.end(), 3, static_cast<uint8_t>(value));
  return image;
}
std::vector<int> ValuesOf(const Image& image) {
  std::vector<int> values;
  for (size_t i = 0; i < image.rgb.size(); i += 3) values.push_back(image.rgb[i]);
  return values;
}

// A direction that stays the same does not make an image that shrinks one that grows.
TEST(ImageDetailsTest, AreasThatShrinkInOneDirectionAreMeans) {
  const Image high = GreyOf(2, 3, {0, 100, 30, 130, 90, 190});
  EXPECT_EQ(ValuesOf(ResizeImage(high, 2, 1, Interpolation::kArea)), (std::vector<int>{40, 140}));
  const Image wide = GreyOf(3, 2, {0, 30, 90, 100, 130, 190});
  EXPECT_EQ(ValuesOf(ResizeImage(wide, 1, 2, Interpolation::kArea)), (std::vector<int>{40, 140}));
  // Pixels that are covered in part: (0 + 30 / 2) / 1.5 and (30 / 2 + 90) / 1.5.
  EXPECT_EQ(ValuesOf(ResizeImage(wide, 2, 2, Interpolation::kArea)),
            (std::vector<int>{10, 70, 110, 170}));
}

TEST(ImageDetailsTest, EveryInterpolationMakesEachSize) {
  const Image image = GreyOf(3, 2, {0, 30, 90, 100, 130, 190});
  for (const std::string& name : InterpolationNames()) {
    Interpolation interpolation;
    ASSERT_TRUE(ParseInterpolation(name, &interpolation));
    for (const auto& [width, height] : {std::pair(3, 1), {1, 2}, {3, 5}, {7, 2}, {1, 4}, {6, 1}}) {
      const Image resized = ResizeImage(image, width, height, interpolation);
      EXPECT_EQ(resized.width, width) << name;
      EXPECT_EQ(resized.height, height) << name;
      EXPECT_EQ(resized.rgb.size(), static_cast<size_t>(width * height * 3)) << name;
      // The left side stays darker than the right one, the top darker than the bottom.
      const std::vector<int> values = ValuesOf(resized);
      if (width > 1) EXPECT_LT(values.front(), values[static_cast<size_t>(width - 1)]) << name;
      if (height > 1) EXPECT_LT(values.front(), values[values.size() - 1]) << name;
    }
  }
}

Image BlackOf(int width, int height) {
  return {.width = width,
          .height = height,
          .rgb = std::vector<uint8_t>(static_cast<size_t>(width * height * 3), 0)};
}
bool Differs(const Image& image, int x, int y) {
  const uint8_t* const pixel = image.rgb.data() + (y * image.width + x) * 3;
  return pixel[0] != 0 || pixel[1] != 0 || pixel[2] != 0;
}
DrawnBox Line(ImagePoint from, ImagePoint to) { return {.corners = {from, to, to, from}}; }

TEST(ImageDetailsTest, LinesKeepTheirSlopeWhereTheyLeaveTheImage) {
  Image image = BlackOf(20, 20);
  DrawBox(Line({0, 0}, {40, 20}), &image);
  for (int x = 0; x < 20; x += 2) {
    for (int y = 0; y < 20; ++y) EXPECT_EQ(Differs(image, x, y), y == x / 2) << x << ", " << y;
  }
  image = BlackOf(20, 20);
  DrawBox(Line({-20, 30}, {20, -10}), &image);  // x + y is 10
  for (int x = 0; x <= 10; ++x) EXPECT_TRUE(Differs(image, x, 10 - x)) << x;
  EXPECT_FALSE(Differs(image, 10, 10));
}

TEST(ImageDetailsTest, LinesHaveNoGaps) {
  Image image = BlackOf(12, 12);
  DrawBox(Line({5, -9}, {5, 9}), &image);
  for (int y = 0; y < 12; ++y) EXPECT_EQ(Differs(image, 5, y), y <= 9) << y;
  image = BlackOf(12, 12);
  DrawBox(Line({-9, 5}, {9, 5}), &image);
  for (int x = 0; x < 12; ++x) EXPECT_EQ(Differs(image, x, 5), x <= 9) << x;
  image = BlackOf(12, 12);
  DrawBox(Line({3, 3}, {3, 3}), &image);
  for (int i = 0; i < 144; ++i) EXPECT_EQ(Differs(image, i % 12, i / 12), i == 3 * 12 + 3);
}

TEST(ImageDetailsTest, LinesOfLargeImagesAreThicker) {
  for (const int side : {299, 300}) {
    Image image = BlackOf(side, 400);
    DrawBox(UprightBox({100, 100}, {200, 200}), &image);
    EXPECT_TRUE(Differs(image, 150, 100));
    EXPECT_EQ(Differs(image, 150, 99), side == 300) << side;
    EXPECT_FALSE(Differs(image, 150, 101));
  }
}

TEST(ImageDetailsTest, ColorsRepeatAndNumbersAreOptional) {
  const auto drawn = [](int64_t color, int64_t number) {
    Image image = BlackOf(30, 30);
    DrawnBox box = UprightBox({2, 2}, {28, 28});
    box.color = color;
    box.number = number;
    DrawBox(box, &image);
    return image.rgb;
  };
  int64_t period = 1;
  while (period < 100 && drawn(period, -1) != drawn(0, -1)) ++period;
  ASSERT_GT(period, 1);
  ASSERT_LT(period, 100);
  for (int64_t color = 0; color < period; ++color) {
    EXPECT_EQ(drawn(color - period, -1), drawn(color, -1));
    EXPECT_EQ(drawn(color + 5 * period, -1), drawn(color, -1));
  }
  EXPECT_NE(drawn(0, 0), drawn(0, -1));
  EXPECT_NE(drawn(0, 1), drawn(0, 0));
  EXPECT_EQ(drawn(0, -1), drawn(0, -7));
}

TEST(ImageDetailsTest, JpegsAreSavedInHighQuality) {
  const TempDir dir;
  SaveJpeg(dir.path("a.jpg"), GreyOf(2, 1, {10, 200}));
  const std::string bytes = ReadWholeFile(dir.path("a.jpg"));
  // A table of 64 quantizers: of the standard's first one, 16, quality 95 makes 16 * 10 / 100.
  const size_t table = bytes.find("\xff\xdb\0\x43\0"s);
  ASSERT_NE(table, std::string::npos);
  EXPECT_EQ(bytes[table + 5], 2);
  const Image read = LoadImage(dir.path("a.jpg"));
  EXPECT_NEAR(read.rgb[0], 10, 2);
  EXPECT_NEAR(read.rgb[3], 200, 2);
}

}  // namespace
}  // namespace caffe2rt::test::image_details_test
