// Images of every kind of pixels that JPEG and PNG have: grey, palettes, alpha, 16 bits, interlaced
// rows, CMYK. All become RGB.
#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

// After <cstdio>, which it needs.
#include <jpeglib.h>

#include "caffe2_core/io/image.h"
#include "tests/support/refusals.h"

namespace caffe2rt::test::image_formats_test {
namespace {

using namespace std::string_literals;
using Bytes = std::vector<uint8_t>;

std::string BigEndian(size_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 255);
  return bytes;
}

std::string Chunk(const std::string& type, const std::string& data) {
  const std::string content = type + data;
  const uLong crc =
      crc32(0, reinterpret_cast<const Bytef*>(content.data()), static_cast<uInt>(content.size()));
  return BigEndian(data.size()) + content + BigEndian(crc);
}

// Color types: 0 grey, 2 RGB, 3 palette, 4 grey and alpha, 6 RGB and alpha. `rows`: each with its
// filter byte. `chunks` come before the pixels.
std::string Png(int width, int height, int bits, int color_type, const std::string& rows,
                const std::string& chunks = "", bool interlaced = false) {
  uLongf size = compressBound(rows.size());
  std::string packed(size, '\0');
  compress2(reinterpret_cast<Bytef*>(packed.data()), &size,
            reinterpret_cast<const Bytef*>(rows.data()), rows.size(), 9);
  packed.resize(size);
  const std::string header = BigEndian(static_cast<size_t>(width)) +
                             BigEndian(static_cast<size_t>(height)) + static_cast<char>(bits) +
                             static_cast<char>(color_type) + "\0\0"s +
                             static_cast<char>(interlaced ? 1 : 0);
  return "\x89PNG\r\n\x1a\n" + Chunk("IHDR", header) + chunks + Chunk("IDAT", packed) +
         Chunk("IEND", "");
}

TEST(ImageFormatsTest, EveryKindOfPngBecomesRgb) {
  const std::string palette = Chunk("PLTE", "\x0a\x14\x1e\xc8\xd2\xdc"s);
  const Bytes two = {10, 20, 30, 200, 210, 220};  // of the palette
  const struct {
    const char* name;
    std::string png;
    Bytes rgb;
  } rows[] = {
      {"RGB", Png(2, 1, 8, 2, "\0\x0a\x14\x1e\xc8\xd2\xdc"s), two},
      {"RGB and alpha", Png(2, 1, 8, 6, "\0\x0a\x14\x1e\0\xc8\xd2\xdc\xff"s), two},
      {"RGB with a colour that is clear",
       Png(2, 1, 8, 2, "\0\x0a\x14\x1e\xc8\xd2\xdc"s, Chunk("tRNS", "\0\x0a\0\x14\0\x1e"s)), two},
      {"RGB of 16 bits", Png(1, 1, 16, 2, "\0\x0a\x0a\x80\x80\xff\xff"s), {10, 128, 255}},
      // Scaled by 255 / 65535, and rounded: 0x0180 is 1.49, 0x0181 is 1.50.
      {"RGB of 16 bits, rounded", Png(1, 1, 16, 2, "\0\x01\x80\x01\x90\xfe\xff"s), {1, 2, 254}},
      {"palette", Png(2, 1, 8, 3, "\0\0\1"s, palette), two},
      {"palette of one bit", Png(2, 1, 1, 3, "\0\x40"s, palette), two},
      {"palette with alpha", Png(2, 1, 8, 3, "\0\0\1"s, palette + Chunk("tRNS", "\0"s)), two},
      {"grey", Png(2, 1, 8, 0, "\0\x07\xfa"s), {7, 7, 7, 250, 250, 250}},
      {"grey and alpha", Png(2, 1, 8, 4, "\0\x07\0\xfa\x80"s), {7, 7, 7, 250, 250, 250}},
      // 0, 1, 2 and 3 of 2 bits are 0, 85, 170 and 255.
      {"grey of two bits", Png(2, 1, 2, 0, "\0\x90"s), {170, 170, 170, 85, 85, 85}},
      {"grey of one bit", Png(2, 1, 1, 0, "\0\x80"s), {255, 255, 255, 0, 0, 0}},
      {"grey of 16 bits", Png(1, 1, 16, 0, "\0\x40\x40"s), {64, 64, 64}},
      {"two rows, with the filter Up", Png(1, 2, 8, 0, "\0\x07\2\x03"s), {7, 7, 7, 10, 10, 10}},
      // Passes 1, 2 (of column 4), 4 and 6 of Adam7; the others have no pixels in one row of 5.
      {"interlaced",
       Png(5, 1, 8, 0, "\0\x01\0\x05\0\x03\0\x02\x04"s, "", true),
       {1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5, 5, 5}},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    const Image image = DecodeImage(row.png, "a.png");
    EXPECT_EQ(image.width * image.height * 3, static_cast<int>(row.rgb.size()));
    EXPECT_EQ(image.rgb, row.rgb);
  }
}

TEST(ImageFormatsTest, APngThatIsTooWideOrHasNoPixelsEndsInAnError) {
  for (const auto& [width, height] : {std::pair(0, 1), {1, 0}, {1000001, 1}, {1, 1000001}}) {
    const std::string message =
        MessageOf([&, w = width, h = height] { DecodeImage(Png(w, h, 8, 0, "\0"s), "a.png"); });
    EXPECT_TRUE(message.starts_with("cannot read \"a.png\" as PNG: ")) << message;
  }
  const std::string message =
      MessageOf([] { DecodeImage(Png(1000000, 101, 8, 0, "\0"s), "a.png"); });
  EXPECT_EQ(message,
            "cannot read \"a.png\": pixels of an image of 1000000x101: got 101000000, want at most "
            "100000000");
}

// 8x8 pixels, all with the same components.
std::string Jpeg(const Bytes& pixel, J_COLOR_SPACE space, bool adobe) {
  jpeg_compress_struct info;
  jpeg_error_mgr errors;
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&info, &bytes, &size);
  info.image_width = info.image_height = 8;
  info.input_components = static_cast<int>(pixel.size());
  info.in_color_space = pixel.size() == 4 ? JCS_CMYK : pixel.size() == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&info);
  jpeg_set_colorspace(&info, space);
  jpeg_set_quality(&info, 100, TRUE);
  info.write_Adobe_marker = adobe ? TRUE : FALSE;
  jpeg_start_compress(&info, TRUE);
  Bytes row;
  for (int x = 0; x < 8; ++x) row.insert(row.end(), pixel.begin(), pixel.end());
  JSAMPROW pointer = row.data();
  for (int y = 0; y < 8; ++y) jpeg_write_scanlines(&info, &pointer, 1);
  jpeg_finish_compress(&info);
  const std::string result(reinterpret_cast<char*>(bytes), size);
  jpeg_destroy_compress(&info);
  std::free(bytes);
  return result;
}

void ExpectPixel(const std::string& jpeg, const std::vector<int>& rgb) {
  const Image image = DecodeImage(jpeg, "a.jpg");
  ASSERT_EQ(image.rgb.size(), 8u * 8 * 3);
  for (const size_t pixel : {size_t{0}, size_t{63}}) {
    for (size_t c = 0; c < 3; ++c) EXPECT_NEAR(image.rgb[pixel * 3 + c], rgb[c], 2) << c;
  }
}

TEST(ImageFormatsTest, EveryKindOfJpegBecomesRgb) {
  ExpectPixel(Jpeg({90}, JCS_GRAYSCALE, false), {90, 90, 90});
  ExpectPixel(Jpeg({200, 100, 50}, JCS_YCbCr, false), {200, 100, 50});
  // Adobe stores 255 - ink. Each colour is the part that cyan, magenta or yellow leaves of what
  // black leaves: 200 * 128 / 255 = 100.
  for (const J_COLOR_SPACE space : {JCS_CMYK, JCS_YCCK}) {
    ExpectPixel(Jpeg({200, 100, 50, 255}, space, true), {200, 100, 50});
    ExpectPixel(Jpeg({200, 100, 50, 128}, space, true), {100, 50, 25});
    ExpectPixel(Jpeg({200, 100, 50, 0}, space, true), {0, 0, 0});
  }
  // Rounded: 100 * 101 / 255 = 39.6, 50 * 101 / 255 = 19.8, 200 * 101 / 255 = 79.2.
  const Image rounded = DecodeImage(Jpeg({100, 50, 200, 101}, JCS_CMYK, true), "a.jpg");
  EXPECT_EQ((Bytes{rounded.rgb.begin(), rounded.rgb.begin() + 3}), (Bytes{40, 20, 79}));
  // Without Adobe's marker, the ink.
  ExpectPixel(Jpeg({55, 155, 205, 0}, JCS_CMYK, false), {200, 100, 50});
  ExpectPixel(Jpeg({55, 155, 205, 127}, JCS_CMYK, false), {100, 50, 25});
}

// Each beginning of a file is an error, also one that lacks a byte of the last checksum.
TEST(ImageFormatsTest, AFileWithoutItsLastByteIsNoImage) {
  const std::string png = Png(2, 1, 8, 2, "\0\x0a\x14\x1e\xc8\xd2\xdc"s);
  EXPECT_EQ(DecodeImage(png, "s").width, 2);
  for (size_t size = 0; size < png.size(); ++size) {
    EXPECT_NE(MessageOf([&] { DecodeImage(png.substr(0, size), "s"); }).find("cannot read \"s\""),
              std::string::npos)
        << size << " of " << png.size();
  }
}

// What libjpeg and libpng state is part of the message.
TEST(ImageFormatsTest, DamageIsNamedWithItsReason) {
  const std::pair<std::string, std::string> rows[] = {
      {"\xff\xd8\xff\xc8\0\x0b\x08\0\1\0\1\1\1\x11\0"s,
       "cannot read \"s\" as JPEG: Unsupported JPEG process: SOF type 0xc8"},
      {"\xff\xd8\xff\xc0\0\x0b\x08\0\0\0\1\1\1\x11\0"s,
       "cannot read \"s\" as JPEG: Empty JPEG image"},
      {"\xff\xd8\xff\xc0\0\x03\x08\0\1\0\1\1\1\x11\0"s,
       "cannot read \"s\" as JPEG: Bogus marker length"},
      {"\x89PNG\r\n\x1a\n\0\0"s, "cannot read \"s\" as PNG: the file ends early"},
      {"GIF89a", "cannot read \"s\" as an image: it is neither JPEG nor PNG"},
      {"", "cannot read \"s\" as an image: it is neither JPEG nor PNG"}};
  for (const auto& [bytes, message] : rows) {
    SCOPED_TRACE(message);
    const std::string got = MessageOf([&, &text = bytes] { DecodeImage(text, "s"); });
    EXPECT_EQ(got.substr(0, message.size()), message);
  }
}

}  // namespace
}  // namespace caffe2rt::test::image_formats_test
