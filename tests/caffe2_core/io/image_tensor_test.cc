// Images as tensors, and tensors as images and files (caffe2_core/io/image.h).

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "caffe2_core/io/image.h"
#include "tests/support/operator_test.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::image_tensor_test {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

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

template <class T>
std::vector<T> ValuesOf(const Tensor& tensor) {
  return {tensor.data<T>(), tensor.data<T>() + tensor.numel()};
}

template <class T>
Tensor TensorOf(const std::vector<int64_t>& dims, const std::vector<T>& values) {
  Tensor tensor(dims, CPU);
  std::copy(values.begin(), values.end(), tensor.mutable_data<T>());
  return tensor;
}

TEST(ImageTensorTest, DividesByTheDeviationAfterTheScale) {
  const Image image{.width = 1, .height = 1, .rgb = {10, 20, 30}};
  const Tensor tensor = ImageToTensor(image, {.mean = {2, 4, 6}, .scale = {3}, .std = {2, 4, 8}});
  // (10 - 2) * 3 / 2, (20 - 4) * 3 / 4, (30 - 6) * 3 / 8.
  EXPECT_THAT(ValuesOf<float>(tensor), ElementsAre(12, 12, 9));
  ExpectThrows([&] { ImageToTensor(image, {.std = {0}}); }, "std, by which pixels are divided");
  ExpectThrows([&] { ImageToTensor(image, {.std = {1, 2}}); }, "std has 2 values, want 1 or 3");
}

// The values of a channel are those of its place in the tensor, whatever color is there.
TEST(ImageTensorTest, ChannelsHaveAMeanAScaleAndADeviationEach) {
  const Image image{.width = 2, .height = 1, .rgb = {10, 20, 30, 110, 120, 130}};
  const ImageTransform each = {.mean = {1, 2, 3}, .scale = {2, 4, 8}, .std = {5, 10, 20}};
  // (10 - 1) * 2 / 5, (20 - 2) * 4 / 10, (30 - 3) * 8 / 20.
  const std::vector<float> rgb = {3.6f, 43.6f, 7.2f, 47.2f, 10.8f, 50.8f};
  const std::vector<float> bgr = {11.6f, 51.6f, 7.2f, 47.2f, 2.8f, 42.8f};
  for (const bool blue_first : {false, true}) {
    ImageTransform transform = each;
    transform.bgr = blue_first;
    const std::vector<float> got = ValuesOf<float>(ImageToTensor(image, transform));
    const std::vector<float>& want = blue_first ? bgr : rgb;
    ASSERT_EQ(got.size(), want.size());
    for (size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(got[i], want[i], 1e-5) << i;
  }
  // A grey image has one channel: (0.299 r + 0.587 g + 0.114 b - 8) * 3 / 2.
  const ImageTransform grey = {.mean = {8}, .scale = {3}, .std = {2}, .grey = true};
  EXPECT_THAT(ValuesOf<float>(ImageToTensor(image, grey)), ElementsAre(15, 165));
  for (const char* name : {"mean", "scale", "std"}) {
    ImageTransform transform = grey;
    (name == std::string("mean")    ? transform.mean
     : name == std::string("scale") ? transform.scale
                                    : transform.std) = {1, 2, 3};
    ExpectThrows([&] { ImageToTensor(image, transform); },
                 std::string(name) + " has 3 values, want 1: the image is grey");
  }
}

TEST(ImageTensorTest, ResizesBothSidesWithoutKeepingProportions) {
  EXPECT_EQ(ImageToTensor(Ramp(20, 10), {.resize_to = {.width = 5, .height = 8}}).dims(),
            (std::vector<int64_t>{1, 3, 8, 5}));
}

TEST(ImageTensorTest, CropsARectangleFromTheCentre) {
  const Image cropped = ResizedAndCropped(Ramp(6, 5), {.crop_to = {.width = 2, .height = 3}});
  EXPECT_EQ(cropped.width, 2);
  EXPECT_EQ(cropped.height, 3);
  // Columns 2 and 3, rows 1 to 3.
  EXPECT_EQ(cropped.rgb[0], 20);
  EXPECT_EQ(cropped.rgb[1], 10);
  EXPECT_EQ(cropped.rgb[15], 30);
  EXPECT_EQ(cropped.rgb[16], 30);
  ExpectThrows([] { ResizedAndCropped(Ramp(6, 5), {.crop_to = {.width = 2, .height = 6}}); },
               "an image of 6x5 pixels is smaller than the crop of 2x6");
  ExpectThrows(
      [] {
        ResizedAndCropped(Ramp(6, 5), {.crop = 2, .crop_to = {2, 2}});
      },
      "crop of an image is set to both 2 and 2x2");
}

TEST(ImageTensorTest, MakesBytesOfStyleNets) {
  const Image image{.width = 2, .height = 1, .rgb = {1, 2, 3, 4, 5, 6}};
  const Tensor tensor = ImageToBgra(image, {});
  EXPECT_EQ(tensor.dims(), (std::vector<int64_t>{1, 1, 2, 4}));
  EXPECT_THAT(ValuesOf<uint8_t>(tensor), ElementsAre(3, 2, 1, 255, 6, 5, 4, 255));
  EXPECT_EQ(TensorToImage(tensor).rgb, image.rgb);
}

TEST(ImageTensorTest, ShowsPlanesOfFloats) {
  // The planes are red, green and blue, or the other way round.
  const Tensor tensor = TensorOf<float>({1, 3, 1, 2}, {10.4f, 300, 20.5f, -7, 30, 255});
  EXPECT_THAT(TensorToImage(tensor).rgb, ElementsAre(10, 21, 30, 255, 0, 255));
  EXPECT_THAT(TensorToImage(tensor, true).rgb, ElementsAre(30, 21, 10, 255, 0, 255));
}

// 1 is shown as 255, so that the products are rounded to these bytes and to no others.
TEST(ImageTensorTest, FractionsAreThoseOf255) {
  const Tensor fractions = TensorOf<float>(
      {1, 1, 2, 5}, {0.75f, 0.625f, 0.875f, 0.998f, 1, 1.5f, -0.5f, 0.0019f, 0.002f, 0.375f});
  std::vector<int> red;
  const Image image = TensorToImage(fractions);
  for (size_t i = 0; i < image.rgb.size(); i += 3) red.push_back(image.rgb[i]);
  EXPECT_THAT(red, ElementsAre(191, 159, 223, 254, 255, 255, 0, 0, 1, 96));
  // A value beyond -0.5 or 1.5 makes all of them bytes.
  for (const float beyond : {1.51f, -0.51f})
    EXPECT_EQ(TensorToImage(TensorOf<float>({1, 1, 1, 2}, {1, beyond})).rgb[0], 1) << beyond;
}

TEST(ImageTensorTest, ShowsFractionsAndGrey) {
  const Tensor fractions = TensorOf<float>({1, 1, 2, 2}, {0, 0.5f, 1.1f, std::nanf("")});
  EXPECT_THAT(TensorToImage(fractions).rgb,
              ElementsAreArray({0, 0, 0, 128, 128, 128, 255, 255, 255, 0, 0, 0}));
  EXPECT_THAT(TensorToImage(TensorOf<uint8_t>({1, 2}, {3, 200})).rgb,
              ElementsAre(3, 3, 3, 200, 200, 200));
}

TEST(ImageTensorTest, NamesWhatIsNoImage) {
  ExpectThrows(
      [] {
        TensorToImage(TensorOf<float>({2, 3, 1, 1}, {1, 2, 3, 4, 5, 6}));
      },
      "cannot show float [2, 3, 1, 1] as an image");
  ExpectThrows([] { TensorToImage(TensorOf<float>({4}, {1, 2, 3, 4})); }, "cannot show float [4]");
  ExpectThrows([] { TensorToImage(TensorOf<int64_t>({1, 1}, {1})); }, "as an image");
  ExpectThrows([] { TensorToImage(Tensor(std::vector<int64_t>{1, 3, 0, 4}, CPU)); }, "image");
}

TEST(ImageTensorTest, SavesByTheEndingOfTheName) {
  const TempDir dir;
  const Image image = Ramp(16, 16);
  SaveImage(dir.path("a.PNG"), image);
  EXPECT_EQ(LoadImage(dir.path("a.PNG")).rgb, image.rgb);
  for (const char* name : {"a.jpg", "a.JPEG"}) {
    SaveImage(dir.path(name), image);
    const Image read = LoadImage(dir.path(name));
    ASSERT_EQ(read.rgb.size(), image.rgb.size());
    for (size_t i = 0; i < read.rgb.size(); ++i) ASSERT_NEAR(read.rgb[i], image.rgb[i], 12) << i;
  }
  ExpectThrows([&] { SaveImage(dir.path("a.gif"), image); },
               "as an image: its name ends in neither .png nor .jpg");
  ExpectThrows([&] { SaveJpeg(dir.path("b.jpg"), Image{.width = 2, .height = 2, .rgb = {1}}); },
               "the image of 2x2 pixels has 1 bytes");
}

}  // namespace
}  // namespace caffe2rt::test::image_tensor_test
