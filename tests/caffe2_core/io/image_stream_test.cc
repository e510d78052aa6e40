#include "caffe2_core/io/image_stream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/image.h"
#include "tests/support/operator_test.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::image_stream_test {
namespace {

using test::ExpectThrows;

// An image whose pixels differ, so that its JPEG has bytes of every kind.
std::string Encoded(const char* name, int width, uint8_t seed) {
  const test::TempDir dir;
  Image image{.width = width, .height = 24, .rgb = {}};
  uint32_t state = seed;
  for (int i = 0; i < width * 24 * 3; ++i)
    image.rgb.push_back(static_cast<uint8_t>((state = state * 1664525 + 1013904223) >> 24));
  SaveImage(dir.path(name), image);
  return ReadWholeFile(dir.path(name));
}

// Hands out at most `piece` bytes at a time.
ImageStream StreamOf(const std::string& bytes, size_t piece) {
  return ImageStream("the stream", [bytes, piece, at = size_t{0}](char* to, size_t most) mutable {
    const size_t count = std::min({piece, most, bytes.size() - at});
    std::memcpy(to, bytes.data() + at, count);
    at += count;
    return static_cast<ssize_t>(count);
  });
}

// Chunks may be empty, and have any type; the last one is IEND, which may have bytes.
TEST(ImageStreamTest, PngsEndBehindTheirLastChunk) {
  using namespace std::string_literals;
  const auto chunk = [](const std::string& type, const std::string& content) {
    return "\0\0\0"s + static_cast<char>(content.size()) + type + content + "crc.";
  };
  const std::string signature = "\x89PNG\r\n\x1a\n";
  const std::string images[] = {
      signature + chunk("tEXt", "") + chunk("IDAT", "IEND") + chunk("IEND", ""),
      signature + chunk("IEND", ""),
      signature + chunk("iend", "") + chunk("IENd", "x") + chunk("IEND", "more"),
  };
  for (const size_t piece : {size_t{1}, size_t{7}, size_t{1000}}) {
    ImageStream stream = StreamOf(images[0] + images[1] + images[2] + images[1], piece);
    std::string image;
    for (const int i : {0, 1, 2, 1}) {
      ASSERT_TRUE(stream.Next(&image));
      EXPECT_EQ(image, images[i]) << i;
    }
    EXPECT_FALSE(stream.Next(&image));
    EXPECT_FALSE(stream.Next(&image));
  }
}

// Markers may be preceded by any number of fill bytes; a length of 2 is a segment without content.
TEST(ImageStreamTest, JpegsEndBehindTheirLastMarker) {
  using namespace std::string_literals;
  const std::string scan = "\xff\xda\0\x04xxscan\xff\0more\xff\xd0rest"s;
  const std::string images[] = {
      "\xff\xd8\xff\xe0\0\x02"s + scan + "\xff\xd9",
      "\xff\xd8\xff\xff\xff\xe1\0\x06\xff\xd9\xff\xd9"s + scan + "\xff\xff\xff\xd9",
      "\xff\xd8\xff\xd9",
  };
  for (const size_t piece : {size_t{1}, size_t{1000}}) {
    ImageStream stream = StreamOf(images[0] + images[1] + images[2], piece);
    std::string image;
    for (const std::string& want : images) {
      ASSERT_TRUE(stream.Next(&image));
      EXPECT_EQ(image, want);
    }
    EXPECT_FALSE(stream.Next(&image));
  }
}

TEST(ImageStreamTest, SplitsImagesOfBothFormats) {
  const std::vector<std::string> images = {Encoded("a.png", 20, 1), Encoded("b.jpg", 30, 2),
                                           Encoded("c.jpg", 8, 3), Encoded("d.png", 9, 4)};
  std::string all;
  for (const std::string& image : images) all += image;
  for (const size_t piece : {size_t{1}, size_t{7}, all.size()}) {
    ImageStream stream = StreamOf(all, piece);
    std::string image;
    for (const std::string& want : images) {
      ASSERT_TRUE(stream.Next(&image));
      EXPECT_EQ(image, want);
    }
    EXPECT_FALSE(stream.Next(&image));
  }
}

// Two scans with stuffed zeros, a restart, fill bytes before a marker, and a segment that contains
// what would be the end.
TEST(ImageStreamTest, FindsTheEndOfEveryKindOfJpeg) {
  constexpr char kJpeg[] =
      "\xff\xd8\xff\xe0\x00\x06\xff\xd9\xff\xd9"
      "\xff\xda\x00\x03\x01\x12\xff\x00\xff\xd0\xff\x00\x34"
      "\xff\xff\xc4\x00\x04\xff\xd9\xff\xda\x00\x02\x56\xff\xff\xff\xd9";
  const std::string jpeg(kJpeg, sizeof(kJpeg) - 1);
  ImageStream stream = StreamOf(jpeg + jpeg, 5);
  std::string image;
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(stream.Next(&image));
    EXPECT_EQ(image, jpeg);
  }
  EXPECT_FALSE(stream.Next(&image));
}

// Markers from d0 to d8 and 01 have no length behind them, those beside them do.
TEST(ImageStreamTest, SomeMarkersHaveNoSegment) {
  for (const int marker : {0x01, 0xd0, 0xd7, 0xd8}) {
    const std::string jpeg =
        "\xff\xd8\xff" + std::string(1, static_cast<char>(marker)) + "\xff\xd9";
    ImageStream stream = StreamOf("\xff\xd8" + jpeg.substr(2) + jpeg, 100);
    std::string image;
    ASSERT_TRUE(stream.Next(&image)) << marker;
    EXPECT_EQ(image, jpeg) << marker;
  }
  for (const int marker : {0x02, 0xcf, 0xda, 0xfe}) {
    using namespace std::string_literals;
    const std::string jpeg =
        "\xff\xd8\xff"s + static_cast<char>(marker) + "\0\4\xff\xd9"s + "\xff\xd9";
    ImageStream stream = StreamOf(jpeg, 100);
    std::string image;
    ASSERT_TRUE(stream.Next(&image)) << marker;
    EXPECT_EQ(image, jpeg) << marker;
  }
}

// What follows is not read as images, wherever the pieces end.
TEST(ImageStreamTest, EndsBehindWhatIsNoImage) {
  const std::string png = Encoded("a.png", 20, 1);
  for (const size_t piece : {size_t{8}, png.size()}) {
    ImageStream stream = StreamOf(std::string(piece, '#') + png + png, piece);
    std::string image = "before";
    EXPECT_THROW(stream.Next(&image), EnforceNotMet);
    EXPECT_FALSE(stream.Next(&image));
    EXPECT_FALSE(stream.Next(&image));
    EXPECT_EQ(image, "before");
  }
}

TEST(ImageStreamTest, NeedsNoByteBehindAnImage) {
  const std::string first = Encoded("a.jpg", 20, 1);
  size_t at = 0;
  ImageStream stream("the stream", [&](char* to, size_t) {
    EXPECT_LT(at, first.size()) << "waits for more than the image";
    *to = first[at++];
    return ssize_t{1};
  });
  std::string image;
  ASSERT_TRUE(stream.Next(&image));
  EXPECT_EQ(image, first);
}

TEST(ImageStreamTest, ReportsWhatIsNoImage) {
  const std::string png = Encoded("a.png", 20, 1), jpeg = Encoded("b.jpg", 20, 1);
  std::string image;
  ExpectThrows([&] { StreamOf("rubbish", 9).Next(&image); }, "the stream is neither JPEG nor PNG");
  for (const std::string& good : {png, jpeg}) {
    ExpectThrows([&] { StreamOf(good.substr(0, good.size() - 1), 9).Next(&image); },
                 "image 1 of the stream is truncated");
    ImageStream trailing = StreamOf(good + "trailing", 9);
    ASSERT_TRUE(trailing.Next(&image));
    ExpectThrows([&] { trailing.Next(&image); }, "bytes after image 1 of the stream are neither");
    EXPECT_FALSE(trailing.Next(&image));
  }
}

}  // namespace
}  // namespace caffe2rt::image_stream_test
