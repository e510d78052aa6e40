#include "caffe2_core/io/image.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
// jpeglib.h needs FILE and size_t.
#include <jpeglib.h>
#include <zlib.h>

#include <cstdio>

#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/io/atomic_file.h"
#include "tests/caffe2_core/io/inflate_counter.h"
#include "tests/support/operator_test.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::image_test {
namespace {

using ::testing::ElementsAre;

// Pixel (x, y) is (10 x, 10 y, 7).
Image Ramp(int width, int height) {
  Image image{.width = width, .height = height, .rgb = {}};
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      for (const int value : {10 * x, 10 * y, 7}) image.rgb.push_back(static_cast<uint8_t>(value));
    }
  }
  return image;
}

std::string PngBytes(const Image& image) {
  const TempDir dir;
  SavePng(dir.path("a.png"), image);
  return ReadWholeFile(dir.path("a.png"));
}

std::string JpegBytes(const Image& image, bool progressive = false) {
  jpeg_compress_struct info;
  jpeg_error_mgr errors;
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&info, &bytes, &size);
  info.image_width = static_cast<unsigned>(image.width);
  info.image_height = static_cast<unsigned>(image.height);
  info.input_components = 3;
  info.in_color_space = JCS_RGB;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, 95, TRUE);
  if (progressive) jpeg_simple_progression(&info);
  jpeg_start_compress(&info, TRUE);
  for (int y = 0; y < image.height; ++y) {
    auto* row = const_cast<unsigned char*>(image.rgb.data()) + y * image.width * 3;
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  const std::string result(reinterpret_cast<char*>(bytes), size);
  jpeg_destroy_compress(&info);
  free(bytes);
  return result;
}

TEST(ImageTest, ReadsPngExactly) {
  const Image image = DecodeImage(PngBytes(Ramp(5, 3)), "a.png");
  EXPECT_EQ(image.width, 5);
  EXPECT_EQ(image.height, 3);
  EXPECT_EQ(image.rgb, Ramp(5, 3).rgb);
}

TEST(ImageTest, ReadsJpegClosely) {
  for (const bool progressive : {false, true}) {
    const Image want = Ramp(16, 16), image = DecodeImage(JpegBytes(want, progressive), "a.jpg");
    ASSERT_EQ(image.rgb.size(), want.rgb.size());
    for (size_t i = 0; i < want.rgb.size(); ++i) EXPECT_NEAR(image.rgb[i], want.rgb[i], 12) << i;
  }
}

// libjpeg keeps 16 bits for each number of an image with several scans, of sides that are multiples
// of 32 and larger than the image's.
TEST(ImageTest, ReservesTheMemoryOfSeveralScans) {
  CPUMemoryOptions& options = GlobalCPUMemoryOptions();
  const size_t before = options.limit_bytes, in_use = GetCPUMemoryUsage().in_use_bytes;
  const struct {
    int width, height;
    size_t bytes;
  } rows[] = {{64, 47, 96 * 64 * 3 * 2}, {31, 63, 32 * 64 * 3 * 2}, {1, 32, 32 * 64 * 3 * 2}};
  for (const auto& row : rows) {
    SCOPED_TRACE(testing::Message() << row.width << "x" << row.height);
    const std::string plain = JpegBytes(Ramp(row.width, row.height));
    const std::string several = JpegBytes(Ramp(row.width, row.height), true);
    options.limit_bytes = in_use + row.bytes;
    EXPECT_EQ(DecodeImage(several, "a.jpg").width, row.width);
    EXPECT_EQ(GetCPUMemoryUsage().in_use_bytes, in_use);
    options.limit_bytes = in_use + row.bytes - 1;
    EXPECT_THROW(DecodeImage(several, "a.jpg"), OutOfMemory);
    EXPECT_EQ(DecodeImage(plain, "a.jpg").width, row.width);
    options.limit_bytes = before;
    EXPECT_EQ(GetCPUMemoryUsage().in_use_bytes, in_use);
  }
}

TEST(ImageTest, RejectsOtherFiles) {
  ExpectThrows([] { DecodeImage("GIF89a", "a.gif"); },
               "cannot read \"a.gif\" as an image: it is neither JPEG nor PNG");
}

TEST(ImageTest, RejectsTruncatedFiles) {
  const std::string png = PngBytes(Ramp(9, 9)), jpeg = JpegBytes(Ramp(64, 64));
  ExpectThrows([&] { DecodeImage(png.substr(0, png.size() / 2), "a.png"); },
               "cannot read \"a.png\" as PNG: ");
  ExpectThrows([&] { DecodeImage(jpeg.substr(0, jpeg.size() / 2), "a.jpg"); },
               "cannot read \"a.jpg\" as JPEG: ");
}

// The last chunk, IEND, has 12 bytes: its length, its name and its checksum.
TEST(ImageTest, RejectsAPngThatIsDamagedBehindItsPixels) {
  const std::string png = PngBytes(Ramp(9, 9));
  for (size_t missing = 1; missing <= 12; ++missing) {
    ExpectThrows([&] { DecodeImage(png.substr(0, png.size() - missing), "a.png"); },
                 "cannot read \"a.png\" as PNG: ");
  }
  std::string changed = png;
  changed.back() = static_cast<char>(changed.back() ^ 1);
  ExpectThrows([&] { DecodeImage(changed, "a.png"); }, "cannot read \"a.png\" as PNG: ");
}

TEST(ImageTest, RejectsImagesBeyondTheLimit) {
  ExpectThrows([] { DecodeImage(PngBytes(Ramp(10, 10)), "a.png", {.max_pixels = 99}); },
               "pixels of an image of 10x10");
  ExpectThrows([] { DecodeImage(JpegBytes(Ramp(10, 10)), "a.jpg", {.max_pixels = 99}); },
               "pixels of an image of 10x10");
  ExpectThrows([] { DecodeImage(JpegBytes(Ramp(10, 10), true), "a.jpg", {.max_scans = 2}); },
               "more than 2 scans");
}

std::string BigEndian(size_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 255);
  return bytes;
}

// A chunk consists of length, type, data and CRC.
std::string PngChunk(const std::string& type, const std::string& data) {
  const std::string content = type + data;
  const uLong crc =
      crc32(0, reinterpret_cast<const Bytef*>(content.data()), static_cast<uInt>(content.size()));
  return BigEndian(data.size()) + content + BigEndian(crc);
}

std::string Deflated(const std::string& text) {
  uLongf size = compressBound(text.size());
  std::string packed(size, '\0');
  compress2(reinterpret_cast<Bytef*>(packed.data()), &size,
            reinterpret_cast<const Bytef*>(text.data()), text.size(), 9);
  packed.resize(size);
  return packed;
}

TEST(ImageTest, InflatesNoTextOfAPng) {
  using namespace std::string_literals;
  const std::string png = PngBytes(Ramp(5, 3));
  const uint64_t start = InflatedBytes();
  DecodeImage(png, "a.png");
  const uint64_t pixels = InflatedBytes() - start;
  EXPECT_GE(pixels, 3u * (1 + 5 * 3));  // each row has one byte for its filter
  const std::string packed = Deflated(std::string(100000, 'a'));
  const size_t after_header = 8 + 12 + 13, end = png.size() - 12;
  for (const std::string& chunk :
       {PngChunk("zTXt", "key\0\0"s + packed), PngChunk("iTXt", "key\0\1\0\0\0"s + packed),
        PngChunk("iCCP", "key\0\0"s + packed)}) {
    SCOPED_TRACE(chunk.substr(4, 4));
    std::string chunks;
    for (int i = 0; i < 4; ++i) chunks += chunk;
    std::string with_text = png;
    with_text.insert(end, chunks);
    with_text.insert(after_header, chunks);
    const uint64_t before = InflatedBytes();
    EXPECT_EQ(DecodeImage(with_text, "a.png").rgb, Ramp(5, 3).rgb);
    EXPECT_EQ(InflatedBytes() - before, pixels);
  }
}

// Repeats the last scan `more` times. A decoder reads each of them.
std::string WithScans(const std::string& jpeg, int more) {
  const size_t end = jpeg.size() - 2;
  const size_t begin = std::min(jpeg.rfind("\xff\xda"), jpeg.rfind("\xff\xc4"));
  std::string result = jpeg.substr(0, end);
  for (int i = 0; i < more; ++i) result += jpeg.substr(begin, end - begin);
  return result + jpeg.substr(end);
}

TEST(ImageTest, LargeImagesMayHaveFewerScans) {
  const std::string ten = JpegBytes(Ramp(10, 10), true);
  const ImageLimits limits = {.max_pixels = 100};
  EXPECT_EQ(DecodeImage(ten, "a.jpg", limits).width, 10);
  EXPECT_EQ(DecodeImage(WithScans(ten, 2), "a.jpg", limits).width, 10);
  ExpectThrows([&] { DecodeImage(WithScans(ten, 3), "a.jpg", limits); },
               "it has more than 12 scans");
  EXPECT_EQ(DecodeImage(WithScans(ten, 20), "a.jpg", {.max_pixels = 300}).width, 10);
  ExpectThrows([&] { DecodeImage(WithScans(ten, 91), "a.jpg"); }, "it has more than 100 scans");
}

TEST(ImageTest, SurvivesDamageOfEveryByte) {
  for (const std::string& bytes :
       {PngBytes(Ramp(12, 7)), JpegBytes(Ramp(16, 8)), JpegBytes(Ramp(16, 8), true)}) {
    for (size_t i = 0; i < bytes.size(); ++i) {
      for (const int flip : {0x01, 0x80, 0xff}) {
        std::string damaged = bytes;
        damaged[i] = static_cast<char>(damaged[i] ^ flip);
        try {
          const Image image = DecodeImage(damaged, "damaged", {.max_pixels = 1 << 20});
          ASSERT_EQ(image.rgb.size(),
                    static_cast<size_t>(image.width) * static_cast<size_t>(image.height) * 3);
        } catch (const EnforceNotMet&) {
        }
      }
    }
  }
}

TEST(ImageTest, ResizesWithHalfPixelCentres) {
  // From 4 to 2 columns, the centres fall between columns 0 and 1, and between 2 and 3: 5 and 25.
  // From 2 to 4 columns, they fall at -0.25 (clamped to 0), 0.25, 0.75 and 1.25 (clamped to 1).
  const Image half = ResizeImage(Ramp(4, 1), 2, 1);
  EXPECT_THAT((std::vector<int>{half.rgb[0], half.rgb[3]}), ElementsAre(5, 25));
  const Image twice = ResizeImage(Ramp(2, 1), 4, 1);
  EXPECT_THAT((std::vector<int>{twice.rgb[0], twice.rgb[3], twice.rgb[6], twice.rgb[9]}),
              ElementsAre(0, 3, 8, 10));
}

TEST(ImageTest, ShorterSideGivesTheSize) {
  int width, height;
  ResizedSize(Ramp(20, 10), 5, &width, &height);
  EXPECT_EQ(width, 10);
  EXPECT_EQ(height, 5);
  ResizedSize(Ramp(10, 24), 5, &width, &height);
  EXPECT_EQ(width, 5);
  EXPECT_EQ(height, 12);
}

TEST(ImageTest, LongerSideIsRoundedToTheNearestPixel) {
  int width, height;
  ResizedSize(Ramp(7, 11), 5, &width, &height);  // 55 / 7 = 7.86
  EXPECT_EQ(width, 5);
  EXPECT_EQ(height, 8);
  ResizedSize(Ramp(10, 7), 5, &width, &height);  // 50 / 7 = 7.14
  EXPECT_EQ(width, 7);
  EXPECT_EQ(height, 5);
  ResizedSize(Ramp(3, 2), 5, &width, &height);  // 7.5, rounded away from zero
  EXPECT_EQ(width, 8);
}

TEST(ImageTest, MakesTensorsAsNetsExpectThem) {
  const Tensor tensor =
      ImageToTensor(Ramp(4, 3), {.mean = {1, 2, 3}, .scale = {2}, .bgr = true, .crop = 1});
  EXPECT_EQ(tensor.dims(), (std::vector<int64_t>{1, 3, 1, 1}));
  // The middle of 4x3 is pixel (1, 1): blue 7, green 10, red 10.
  const float* values = tensor.data<float>();
  EXPECT_THAT((std::vector<float>{values[0], values[1], values[2]}), ElementsAre(12, 16, 14));
}

TEST(ImageTest, MakesGreyOfTheWeightsOfTheColours) {
  const Image image{.width = 2, .height = 1, .rgb = {255, 0, 0, 10, 20, 30}};
  const Tensor grey = ImageToTensor(image, {.mean = {1}, .scale = {2}, .grey = true});
  EXPECT_EQ(grey.dims(), (std::vector<int64_t>{1, 1, 1, 2}));
  EXPECT_EQ(grey.data<float>()[0], (76 - 1) * 2);  // 76.245
  EXPECT_EQ(grey.data<float>()[1], (18 - 1) * 2);  // 18.15
  ExpectThrows(
      [&] {
        ImageToTensor(image, {.mean = {1, 2, 3}, .grey = true});
      },
      "the image is grey");
}

TEST(ImageTest, NamesWhatDoesNotFit) {
  ExpectThrows([] { ImageToTensor(Ramp(4, 3), {.crop = 4}); },
               "an image of 4x3 pixels is smaller than the crop of 4x4");
  ExpectThrows(
      [] {
        ImageToTensor(Ramp(4, 3), {.mean = {1, 2}});
      },
      "mean has 2 values, want 1 or 3");
}

}  // namespace
}  // namespace caffe2rt::test::image_test
