#include "caffe2_core/io/image_orientation.h"

#include <gtest/gtest.h>

#include <vector>

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

// A chunk of a PNG with its checksum, the CRC-32 of its type and data.
std::string Chunk(const std::string& type, const std::string& data) {
  uint32_t crc = 0xffffffff;
  for (const char byte : type + data) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (crc % 2 != 0 ? 0xedb88320 : 0);
  }
  const auto number = [](uint32_t value) {
    std::string bytes;
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 255);
    return bytes;
  };
  return number(static_cast<uint32_t>(data.size())) + type + data + number(~crc);
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

// The grey values of the image that a file of 2x3 squares shows, by the definition of the tag: 6
// means that row 0 is at the right and column 0 at the top.
struct Upright {
  int orientation, columns;
  std::vector<int> values;
};
const std::vector<Upright> kUpright = {
    {1, 2, {0, 40, 80, 120, 160, 200}}, {2, 2, {40, 0, 120, 80, 200, 160}},
    {3, 2, {200, 160, 120, 80, 40, 0}}, {4, 2, {160, 200, 80, 120, 0, 40}},
    {5, 3, {0, 80, 160, 40, 120, 200}}, {6, 3, {160, 80, 0, 200, 120, 40}},
    {7, 3, {200, 120, 40, 160, 80, 0}}, {8, 3, {40, 120, 200, 0, 80, 160}},
};

// `columns` squares beside each other, of side x side pixels each.
Image Squares(const std::vector<int>& values, int columns, int side) {
  const int rows = static_cast<int>(values.size()) / columns;
  Image image{.width = columns * side, .height = rows * side, .rgb = {}};
  for (int y = 0; y < image.height; ++y) {
    for (int x = 0; x < image.width; ++x) {
      const int value = values[static_cast<size_t>(y / side * columns + x / side)];
      image.rgb.insert(image.rgb.end(), 3, static_cast<uint8_t>(value));
    }
  }
  return image;
}

// Expects that the bytes, and a file of them, show the image; each value may differ by `tolerance`.
void ExpectShows(const std::string& bytes, const Image& want, int tolerance) {
  const TempDir dir;
  AtomicFile file(dir.path("image"));
  file.Write(bytes);
  file.Commit();
  for (const Image& image : {DecodeImage(bytes, "image"), LoadImage(dir.path("image"))}) {
    EXPECT_EQ(image.width, want.width);
    EXPECT_EQ(image.height, want.height);
    ASSERT_EQ(image.rgb.size(), want.rgb.size());
    for (size_t i = 0; i < want.rgb.size(); ++i) {
      ASSERT_NEAR(image.rgb[i], want.rgb[i], tolerance) << "byte " << i;
    }
  }
}

TEST(ImageOrientationTest, ShowsEveryPixelOfAPngUpright) {
  const TempDir dir;
  SavePng(dir.path("a.png"), Squares(kUpright[0].values, 2, 1));
  const std::string png = ReadWholeFile(dir.path("a.png"));
  constexpr size_t kFirst = 8 + 25, kEndBytes = 12;  // behind IHDR, and IEND
  for (const Upright& upright : kUpright) {
    for (const bool little_endian : {false, true}) {
      for (const size_t at : {kFirst, png.size() - kEndBytes}) {
        SCOPED_TRACE(testing::Message() << upright.orientation << " at " << at);
        const std::string chunk = Chunk("eXIf", Exif(upright.orientation, little_endian));
        ExpectShows(png.substr(0, at) + chunk + png.substr(at),
                    Squares(upright.values, upright.columns, 1), 0);
      }
    }
  }
}

// Squares as large as the blocks of a JPEG.
TEST(ImageOrientationTest, ShowsEveryPixelOfAJpegUpright) {
  const std::string jpeg = JpegOf(Squares(kUpright[0].values, 2, 8));
  for (const Upright& upright : kUpright) {
    for (const bool little_endian : {false, true}) {
      SCOPED_TRACE(upright.orientation);
      ExpectShows(WithExif(jpeg, Exif(upright.orientation, little_endian)),
                  Squares(upright.values, upright.columns, 8), 4);
    }
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
