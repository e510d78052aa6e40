// Every error of images, whole, and the sizes and values next to each bound that are accepted.
#include <gtest/gtest.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "caffe2_core/io/image.h"
#include "caffe2_core/io/image_boxes.h"
#include "caffe2_core/io/image_codecs.h"
#include "caffe2_core/io/image_stream.h"
#include "tests/support/refusals.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::image_refusals_test {
namespace {

using namespace std::string_literals;

Image Plain(int width, int height, uint8_t value = 5) {
  const size_t bytes = static_cast<size_t>(width) * static_cast<size_t>(height) * 3;
  return {.width = width, .height = height, .rgb = std::vector<uint8_t>(bytes, value)};
}

template <class T>
Tensor TensorOf(const std::vector<int64_t>& dims, T value = 0) {
  Tensor tensor(dims, CPU);
  std::fill_n(tensor.mutable_data<T>(), tensor.numel(), value);
  return tensor;
}

TEST(ImageRefusalsTest, OfSizes) {
  const ImageLimits limits{.max_pixels = 99};
  ExpectRefusals({
      {[&] { internal::CheckImageSize(10, 10, "a.png", limits); },
       "cannot read \"a.png\": pixels of an image of 10x10: got 100, want at most 99"},
      {[&] { internal::CheckImageSize(0, 10, "a.png", limits); },
       "cannot read \"a.png\": it is an image of 0x10 pixels"},
      {[&] { internal::CheckImageSize(3, -1, "a.png", limits); },
       "cannot read \"a.png\": it is an image of 3x-1 pixels"},
      {[&] { internal::CheckImageSize(int64_t{1} << 40, int64_t{1} << 40, "a.png", limits); },
       "size overflow: 1099511627776 * 1099511627776 does not fit into 64 bits"},
  });
  internal::CheckImageSize(99, 1, "a.png", limits);
  internal::CheckImageSize(10000, 10000, "a.png", {});  // the default limit
  ExpectRefusals(
      {{[&] { internal::CheckImageSize(10000, 10001, "a.png", {}); },
        "cannot read \"a.png\": pixels of an image of 10000x10001: got 100010000, want at "
        "most 100000000"}});
}

TEST(ImageRefusalsTest, OfImagesThatAreWritten) {
  const TempDir dir;
  const std::string png = dir.path("a.png"), jpg = dir.path("a.jpg"), gif = dir.path("a.gif");
  const auto wrong = [](const std::string& path, const std::string& what) {
    return "cannot write \"" + path + "\": the image of " + what;
  };
  ExpectRefusals({
      {[&] { SavePng(png, Image{.width = 2, .height = 2, .rgb = {1}}); },
       wrong(png, "2x2 pixels has 1 bytes")},
      {[&] {
         SaveJpeg(jpg, Image{.width = 1, .height = 1, .rgb = {1, 2, 3, 4}});
       },
       wrong(jpg, "1x1 pixels has 4 bytes")},
      {[&] { SaveJpeg(jpg, Image{.width = 0, .height = 2, .rgb = {}}); },
       wrong(jpg, "0x2 pixels has 0 bytes")},
      {[&] { SavePng(png, Image{.width = 2, .height = 0, .rgb = {}}); },
       wrong(png, "2x0 pixels has 0 bytes")},
      {[&] { SaveJpeg(jpg, Plain(65501, 1)); },
       "cannot write \"" + jpg + "\": the image has 65501x1 pixels, want at most 65500 per side"},
      {[&] { SaveJpeg(jpg, Plain(1, 65501)); },
       "cannot write \"" + jpg + "\": the image has 1x65501 pixels, want at most 65500 per side"},
      {[&] { SaveImage(gif, Plain(1, 1)); },
       "cannot write \"" + gif + "\" as an image: its name ends in neither .png nor .jpg"},
      {[&] { CheckImageFileName("-"); },  // only in programs that use standard output
       "cannot write \"-\" as an image: its name ends in neither .png nor .jpg"},
      {[&] { CheckImageFileName("png"); },
       "cannot write \"png\" as an image: its name ends in neither .png nor .jpg"},
  });
  EXPECT_TRUE(std::filesystem::is_empty(dir.path()));
  SaveJpeg(jpg, Plain(65500, 1));
  EXPECT_EQ(LoadImage(jpg).width, 65500);
  CheckImageFileName(".jpeg");
}

TEST(ImageRefusalsTest, OfTransforms) {
  const Image image = Plain(4, 3);
  const auto cut = [&](const ImageTransform& transform) {
    return [&image, transform] { ResizedAndCropped(image, transform); };
  };
  const auto tensor = [&](const ImageTransform& transform) {
    return [&image, transform] { ImageToTensor(image, transform); };
  };
  ExpectRefusals({
      {cut({.resize = -1}), "resize of an image is -1 or 0x0, want at least 0"},
      {cut({.resize_to = {-1, 2}}), "resize of an image is 0 or -1x2, want at least 0"},
      {cut({.crop_to = {2, -1}}), "crop of an image is 0 or 2x-1, want at least 0"},
      {cut({.resize_to = {3, 0}}), "resize of an image is 3x0, want two sides"},
      {cut({.crop_to = {0, 3}}), "crop of an image is 0x3, want two sides"},
      {cut({.resize = 2, .resize_to = {2, 3}}), "resize of an image is set to both 2 and 2x3"},
      {cut({.crop = 2, .crop_to = {2, 2}}), "crop of an image is set to both 2 and 2x2"},
      {cut({.crop_to = {5, 3}}),
       "an image of 4x3 pixels is smaller than the crop of 5x3; resize it first"},
      {cut({.crop_to = {4, 4}}),
       "an image of 4x3 pixels is smaller than the crop of 4x4; resize it first"},
      {cut({.resize_to = {2, 2}, .crop = 3}),
       "an image of 2x2 pixels is smaller than the crop of 3x3; resize it first"},
      {cut({.resize_to = {10001, 10000}}),
       "cannot read \"resized image\": pixels of an image of 10001x10000: got 100010000, want at "
       "most "
       "100000000"},
      {tensor({.mean = {1, 2}}), "mean has 2 values, want 1 or 3"},
      {tensor({.scale = {}}), "scale has 0 values, want 1 or 3"},
      {tensor({.std = {1, 2, 3, 4}}), "std has 4 values, want 1 or 3"},
      {tensor({.std = {1, 2, 3}, .grey = true}), "std has 3 values, want 1: the image is grey"},
      {tensor({.std = {1, 0, 3}}), "std, by which pixels are divided: got 0, want other than 0"},
      {[&] { ImageToBgra(image, {.crop = 9}); },
       "an image of 4x3 pixels is smaller than the crop of 9x9; resize it first"},
  });
  EXPECT_EQ(ResizedAndCropped(image, {.crop_to = {4, 3}}).rgb, image.rgb);
  EXPECT_EQ(ResizedAndCropped(image, {.crop = 3}).width, 3);
  int width = 0, height = 0;
  Interpolation interpolation{};
  ExpectRefusals({
      {[&] { ResizedSize(image, 2, nullptr, &height); },
       "argument width or height of ResizedSize is null"},
      {[&] { ResizedSize(image, 2, &width, nullptr); },
       "argument width or height of ResizedSize is null"},
      {[&] { ResizedSize(Plain(1, 1001), 1000, &width, &height); },
       "an image of 1x1001 pixels resized to a shorter side of 1000 would be too long, want at "
       "most "
       "1000000 pixels"},
      {[&] { ParseInterpolation("linear", nullptr); }, "argument interpolation is null"},
      {[&] { ResizeImage(image, 0, 3); }, "cannot resize an image of 4x3 pixels to 0x3"},
      {[&] { ResizeImage(image, 3, -1); }, "cannot resize an image of 4x3 pixels to 3x-1"},
      {[&] { ResizeImage(Image{.width = 0, .height = 3, .rgb = {}}, 1, 1); },
       "cannot resize an image of 0x3 pixels to 1x1"},
      {[&] { ResizeImage(Image{.width = 3, .height = 0, .rgb = {}}, 1, 1); },
       "cannot resize an image of 3x0 pixels to 1x1"},
  });
  ResizedSize(Plain(1, 1000), 1000, &width, &height);
  EXPECT_EQ(width, 1000);
  EXPECT_EQ(height, 1000000);
  EXPECT_FALSE(ParseInterpolation("Linear", &interpolation));
  EXPECT_TRUE(ParseInterpolation("lanczos", &interpolation));
  EXPECT_EQ(interpolation, Interpolation::kLanczos);
}

// Where a side grows, area interpolation takes two pixels in each direction, with OpenCV's weights.
TEST(ImageRefusalsTest, AreaInterpolationTakesMeansWhereBothSidesShrink) {
  Image image = Plain(6, 1);
  for (size_t x = 0; x < 6; ++x) image.rgb[3 * x] = static_cast<uint8_t>(10 * x);
  const auto red = [&](int width, int height) {
    const Image resized = ResizeImage(image, width, height, Interpolation::kArea);
    std::vector<int> values;
    for (size_t i = 0; i < resized.rgb.size(); i += 3) values.push_back(resized.rgb[i]);
    return values;
  };
  EXPECT_EQ(red(2, 1), (std::vector<int>{10, 40}));
  // 1.5 pixels each: 0 and half of 10, half of 10 and 20, 30 and half of 40, half of 40 and 50.
  EXPECT_EQ(red(4, 1), (std::vector<int>{3, 17, 33, 47}));
  // Two thirds of the pixel on the right.
  EXPECT_EQ(red(2, 2), (std::vector<int>{7, 37, 7, 37}));
}

TEST(ImageRefusalsTest, OfTensorsThatAreNoImages) {
  const auto show = [](const Tensor& tensor) { return [tensor] { TensorToImage(tensor); }; };
  const std::string want =
      " as an image, want float or uint8 [1, 3, H, W] or [1, 1, H, W], or uint8 [1, H, W, 4]";
  ExpectRefusals({
      {show(TensorOf<float>({2, 3, 1, 1})), "cannot show float [2, 3, 1, 1]" + want},
      {show(TensorOf<float>({2, 2, 2})), "cannot show float [2, 2, 2]" + want},
      {show(TensorOf<float>({4})), "cannot show float [4]" + want},
      {show(TensorOf<float>({})), "cannot show float []" + want},
      {show(TensorOf<float>({1, 1, 1, 1, 1})), "cannot show float [1, 1, 1, 1, 1]" + want},
      {show(TensorOf<int32_t>({1, 1})), "cannot show int32 [1, 1]" + want},
      {show(TensorOf<float>({1, 2, 2, 4})), "cannot show float [1, 2, 2, 4]" + want},
      {show(TensorOf<uint8_t>({2, 2, 4})), "cannot show uint8 [2, 2, 4]" + want},
      {show(TensorOf<float>({1, 3, 0, 4})), "cannot read \"tensor\": it is an image of 4x0 pixels"},
      {show(TensorOf<float>({3, 2, 0})), "cannot read \"tensor\": it is an image of 0x2 pixels"},
  });
  const Image packed = TensorToImage(TensorOf<uint8_t>({1, 3, 5, 4}, 9));
  EXPECT_EQ(packed.height, 3);
  EXPECT_EQ(packed.width, 5);
  const Image planes = TensorToImage(TensorOf<uint8_t>({1, 3, 5, 2}, 9));
  EXPECT_EQ(planes.height, 5);
  EXPECT_EQ(planes.width, 2);
  EXPECT_EQ(TensorToImage(TensorOf<float>({3, 2, 4}, 9)).width, 4);
  EXPECT_EQ(TensorToImage(TensorOf<float>({1, 2, 4}, 9)).height, 2);
  EXPECT_EQ(TensorToImage(TensorOf<float>({2, 4}, 9)).height, 2);
}

// Values are fractions only if all of them lie between -0.5 and 1.5.
TEST(ImageRefusalsTest, FractionsHaveBounds) {
  const auto first = [](float value, float other) {
    Tensor tensor = TensorOf<float>({1, 2}, other);
    tensor.mutable_data<float>()[0] = value;
    return static_cast<int>(TensorToImage(tensor).rgb[0]);
  };
  EXPECT_EQ(first(0.2f, 1.5f), 51);
  EXPECT_EQ(first(0.2f, -0.5f), 51);
  EXPECT_EQ(first(0.2f, 1.51f), 0);
  EXPECT_EQ(first(0.2f, -0.51f), 0);
  EXPECT_EQ(first(0.2f, NAN), 51);
  EXPECT_EQ(first(0.5f, 2), 1);  // half a step is rounded up
  EXPECT_EQ(first(0.49f, 2), 0);
  EXPECT_EQ(first(255.4f, 2), 255);
  EXPECT_EQ(first(-3, 2), 0);
  EXPECT_EQ(first(INFINITY, 2), 255);
  EXPECT_EQ(first(NAN, 2), 0);
}

// Returns the pieces one by one, then `error`, or the end of the stream if it is 0.
ImageStream StreamOf(std::vector<std::string> pieces, int error = 0) {
  return ImageStream("the stream", [pieces, error, at = size_t{0}](char* to, size_t) mutable {
    if (at == pieces.size()) {
      errno = error;
      return error == 0 ? ssize_t{0} : ssize_t{-1};
    }
    if (pieces[at] == "EINTR") {
      ++at;
      errno = EINTR;
      return ssize_t{-1};
    }
    std::memcpy(to, pieces[at].data(), pieces[at].size());
    return static_cast<ssize_t>(pieces[at++].size());
  });
}

TEST(ImageRefusalsTest, OfStreams) {
  const std::string signature = "\x89PNG\r\n\x1a\n";
  const std::string png = signature + "\0\0\0\2IHDRxxcrc_\0\0\0\0IENDcrc_"s;
  const std::string jpeg = "\xff\xd8\xff\xe0\x00\x04xx\xff\xda\x00\x02scan\xff\xd9"s;
  std::string image;
  const auto next = [&](std::vector<std::string> pieces, int error = 0) {
    return [&image, pieces, error] { StreamOf(pieces, error).Next(&image); };
  };
  const std::string truncated = "image 1 of the stream is truncated";
  const std::string neither = "the stream is neither JPEG nor PNG";
  for (size_t size = 1; size < png.size(); ++size)
    ExpectRefusals({{next({png.substr(0, size)}), size < 8 ? neither : truncated}});
  for (size_t size = 1; size < jpeg.size(); ++size)
    ExpectRefusals({{next({jpeg.substr(0, size)}), size < 3 ? neither : truncated}});
  ExpectRefusals({
      {next({signature + "\x80\0\0\0IHDR"s}),
       "bytes of a chunk of image 1 of the stream: got 2147483648, want at most 2147483647"},
      {next({signature + "\x7f\xff\xff\xff"s
                         "IHDR"s}),
       truncated},
      {next({png.substr(0, 9)}, EIO), "cannot read the stream: Input/output error"},
      {next({}, EBADF), "cannot read the stream: Bad file descriptor"},
      {[&] { StreamOf({png}).Next(nullptr); }, "argument image of Next is null"},
  });
  ImageStream stream = StreamOf({png, "EINTR", "EINTR", jpeg + "rubbish"});
  EXPECT_TRUE(stream.Next(&image));
  EXPECT_EQ(image, png);
  EXPECT_TRUE(stream.Next(&image));
  EXPECT_EQ(image, jpeg);
  ExpectRefusals({{[&] { stream.Next(&image); },
                   "the 7 or more bytes after image 2 of the stream are neither JPEG nor PNG"}});
  EXPECT_EQ(image, jpeg);
  EXPECT_FALSE(stream.Next(&image));
  ImageStream second = StreamOf({png + png.substr(0, 20)});
  EXPECT_TRUE(second.Next(&image));
  ExpectRefusals({{[&] { second.Next(&image); }, "image 2 of the stream is truncated"}});
}

std::vector<int> PixelAt(const Image& image, int x, int y) {
  const auto at = image.rgb.begin() + (static_cast<ptrdiff_t>(y) * image.width + x) * 3;
  return {at[0], at[1], at[2]};
}

TEST(ImageRefusalsTest, BoxesHaveColoursThicknessAndDigits) {
  ExpectRefusals({{[] { DrawBox({}, nullptr); }, "argument image of DrawBox is null"}});
  const std::vector<std::pair<int64_t, std::vector<int>>> colors = {{0, {230, 60, 50}},
                                                                    {7, {130, 160, 20}},
                                                                    {8, {230, 60, 50}},
                                                                    {-1, {130, 160, 20}},
                                                                    {17, {40, 160, 70}}};
  for (const auto& [color, rgb] : colors) {
    Image image = Plain(20, 10, 0);
    DrawnBox box = UprightBox({2, 3}, {12, 8});
    box.color = color;
    DrawBox(box, &image);
    EXPECT_EQ(PixelAt(image, 2, 3), rgb) << color;
    EXPECT_EQ(PixelAt(image, 12, 8), rgb) << color;
    EXPECT_EQ(PixelAt(image, 3, 4), (std::vector<int>{0, 0, 0}));  // inside, and no number
  }
  // A line of two pixels from 300 pixels of the shorter side on.
  for (const int side : {299, 300}) {
    Image image = Plain(400, side, 0);
    DrawBox(UprightBox({50, 50}, {100, 100}), &image);
    EXPECT_EQ(PixelAt(image, 75, 49)[0], side == 300 ? 230 : 0);
    EXPECT_EQ(PixelAt(image, 75, 50)[0], 230);
    EXPECT_EQ(PixelAt(image, 75, 51)[0], 0);
  }
  // Each digit has 3x5 pixels behind a margin of one, and the background has the box's colour.
  const char* const digits[10] = {"####.##.##.####", ".#.##..#..#.###", "###..#####..###",
                                  "###..####..####", "#.##.####..#..#", "####..###..####",
                                  "####..####.####", "###..#..#.#..#.", "####.#####.####",
                                  "####.####..####"};
  for (int digit = 0; digit < 10; ++digit) {
    Image image = Plain(30, 20, 0);
    DrawnBox box = UprightBox({4, 2}, {25, 18});
    box.number = 10 + digit;
    DrawBox(box, &image);
    std::string drawn;
    for (int y = 3; y < 8; ++y) {
      for (int x = 9; x < 12; ++x) drawn += PixelAt(image, x, y)[1] == 255 ? '#' : '.';
    }
    EXPECT_EQ(drawn, digits[digit]) << digit;
    EXPECT_EQ(PixelAt(image, 4, 8), (std::vector<int>{230, 60, 50}));  // below the digits
    EXPECT_EQ(PixelAt(image, 12, 8), (std::vector<int>{230, 60, 50}));
    EXPECT_EQ(PixelAt(image, 13, 7), (std::vector<int>{0, 0, 0}));
    EXPECT_EQ(PixelAt(image, 5, 9), (std::vector<int>{0, 0, 0}));
  }
  Image image = Plain(20, 10, 0);
  DrawnBox zero = UprightBox({1, 1}, {15, 8});
  zero.number = 0;
  DrawBox(zero, &image);
  EXPECT_EQ(PixelAt(image, 2, 2), (std::vector<int>{255, 255, 255}));
}

}  // namespace
}  // namespace caffe2rt::test::image_refusals_test
