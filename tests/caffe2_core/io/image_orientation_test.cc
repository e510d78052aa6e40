#include "caffe2_core/io/image_orientation.h"

#include <gtest/gtest.h>

#include "caffe2_core/io/atomic_file.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::image_orientation_test {
namespace {

using namespace std::string_literals;

// Exif data with the one entry Orientation, in either byte order.
std::string Exif(int orientation, bool little_endian = false) {
  const auto value = static_cast<char>(orientation);
  if (little_endian) {
    return "II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0"s + value + "\0\0\0\0\0\0\0"s;
  }
  return "MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0"s + value + "\0\0\0\0\0\0"s;
}

// A JPEG whose first segment is APP1 with these data.
std::string WithExif(const std::string& jpeg, const std::string& exif) {
  const std::string content = "Exif\0\0"s + exif;
  const size_t size = content.size() + 2;
  return jpeg.substr(0, 2) + "\xff\xe1" + static_cast<char>(size >> 8) +
         static_cast<char>(size & 255) + content + jpeg.substr(2);
}

// 16x8 pixels, two blocks of JPEG, so that the colours stay apart: red on the left, blue on the
// right.
Image RedLeftBlueRight() {
  Image image{.width = 16, .height = 8, .rgb = {}};
  for (int i = 0; i < 16 * 8; ++i) {
    const bool left = i % 16 < 8;
    for (const int value : {left ? 255 : 0, 0, left ? 0 : 255})
      image.rgb.push_back(static_cast<uint8_t>(value));
  }
  return image;
}

std::string JpegOf(const Image& image) {
  const TempDir dir;
  SaveJpeg(dir.path("a.jpg"), image);
  return ReadWholeFile(dir.path("a.jpg"));
}

TEST(ImageOrientationTest, PlacesRowsAndColumnsAsExifStates) {
  // The stored image is 2x3:   1 2
  //                            3 4
  //                            5 6
  Image stored{.width = 2, .height = 3, .rgb = {}};
  for (const uint8_t value : {1, 2, 3, 4, 5, 6}) stored.rgb.insert(stored.rgb.end(), 3, value);
  struct Case {
    int orientation, width;
    std::vector<uint8_t> upright;
  };
  // By the definition of the tag: 6 means that row 0 is at the right and column 0 at the top.
  for (const Case& c : {Case{1, 2, {1, 2, 3, 4, 5, 6}}, Case{2, 2, {2, 1, 4, 3, 6, 5}},
                        Case{3, 2, {6, 5, 4, 3, 2, 1}}, Case{4, 2, {5, 6, 3, 4, 1, 2}},
                        Case{5, 3, {1, 3, 5, 2, 4, 6}}, Case{6, 3, {5, 3, 1, 6, 4, 2}},
                        Case{7, 3, {6, 4, 2, 5, 3, 1}}, Case{8, 3, {2, 4, 6, 1, 3, 5}}}) {
    const Image upright = internal::Oriented(stored, c.orientation);
    EXPECT_EQ(upright.width, c.width) << c.orientation;
    EXPECT_EQ(upright.height, 5 - c.width) << c.orientation;
    std::vector<uint8_t> values;
    for (size_t i = 0; i < upright.rgb.size(); i += 3) values.push_back(upright.rgb[i]);
    EXPECT_EQ(values, c.upright) << c.orientation;
  }
}

TEST(ImageOrientationTest, JpegsAreReadUpright) {
  const std::string jpeg = JpegOf(RedLeftBlueRight());
  for (const bool little_endian : {false, true}) {
    // Turned clockwise, the left side is at the top.
    const Image image = DecodeImage(WithExif(jpeg, Exif(6, little_endian)), "a.jpg");
    ASSERT_EQ(image.width, 8);
    ASSERT_EQ(image.height, 16);
    EXPECT_GT(image.rgb[0], 200);
    EXPECT_LT(image.rgb[2], 60);
    EXPECT_LT(image.rgb[image.rgb.size() - 3], 60);
    EXPECT_GT(image.rgb[image.rgb.size() - 1], 200);
  }
}

TEST(ImageOrientationTest, ReadsEveryOrientationOfJpegAndPng) {
  const std::string jpeg = JpegOf(RedLeftBlueRight());
  for (int orientation = 1; orientation <= 8; ++orientation) {
    EXPECT_EQ(internal::OrientationOfJpeg(WithExif(jpeg, Exif(orientation))), orientation);
    const std::string exif = Exif(orientation, true);
    const std::string png = "\x89PNG\r\n\x1a\n\0\0\0\x02tEXtabCRC_\0\0\0"s +
                            static_cast<char>(exif.size()) + "eXIf" + exif + "CRC_";
    EXPECT_EQ(internal::OrientationOfPng(png), orientation);
  }
}

TEST(ImageOrientationTest, ReadsExifBehindFillBytesAndOtherSegments) {
  const std::string oriented = WithExif(JpegOf(RedLeftBlueRight()), Exif(6));
  const std::string comment = "\xff\xfe\0\x04hi"s, other_app1 = "\xff\xe1\0\x06http"s;
  // Any number of bytes 0xff may stand before a marker.
  for (const std::string& before :
       {"\xff"s, "\xff\xff\xff"s, comment, comment + "\xff", other_app1}) {
    const std::string jpeg = oriented.substr(0, 2) + before + oriented.substr(2);
    EXPECT_EQ(internal::OrientationOfJpeg(jpeg), 6);
  }
}

TEST(ImageOrientationTest, DamagedExifMeansUpright) {
  const std::string jpeg = JpegOf(RedLeftBlueRight());
  for (const std::string& exif : {Exif(0), Exif(9), "MM"s, "XX"s, ""s, Exif(6).substr(0, 15)}) {
    EXPECT_EQ(internal::OrientationOfJpeg(WithExif(jpeg, exif)), 1);
  }
  EXPECT_EQ(internal::OrientationOfJpeg(jpeg), 1);
  const std::string oriented = WithExif(jpeg, Exif(8));
  for (size_t i = 0; i < 60; ++i) {
    for (const char byte : {'\0', '\x7f', '\xff'}) {
      std::string damaged = oriented;
      damaged[i] = byte;
      const int orientation = internal::OrientationOfJpeg(damaged);
      EXPECT_TRUE(orientation >= 1 && orientation <= 8);
    }
    const int orientation = internal::OrientationOfJpeg(oriented.substr(0, i));
    EXPECT_TRUE(orientation >= 1 && orientation <= 8);
  }
}

}  // namespace
}  // namespace caffe2rt::test::image_orientation_test
