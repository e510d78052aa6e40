#include "caffe2_core/model/image_preparation.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "caffe2_core/base/enforce.h"

namespace caffe2rt::image_preparation_test {
namespace {

// "NCHW 3 224 x 320", or "none".
std::string TextOf(const std::optional<ImageForm>& form) {
  if (!form) return "none";
  return MakeString(form->has_batch ? "N" : "", form->channels_last ? "HWC " : "CHW ",
                    form->channels, " ", form->height, " x ", form->width,
                    form->bytes ? " bytes" : "");
}

TEST(ImageFormTest, FollowsFromTheShapeAndTheType) {
  constexpr auto kFloat = TensorProto::FLOAT, kBytes = TensorProto::UINT8;
  const struct {
    std::vector<int64_t> dims;
    TensorProto::DataType type;
    std::string want;
  } rows[] = {
      {{1, 3, 224, 320}, kFloat, "NCHW 3 224 x 320"},
      {{-1, 3, -1, -1}, kFloat, "NCHW 3 -1 x -1"},
      {{-1, 224, 320, 3}, kFloat, "NHWC 3 224 x 320"},
      {{-1, -1, -1, 3}, kBytes, "NHWC 3 -1 x -1 bytes"},
      {{1, 28, 28, 1}, kFloat, "NHWC 1 28 x 28"},
      {{1, 1, 28, 28}, kBytes, "NCHW 1 28 x 28 bytes"},
      {{-1, -1, -1, -1}, kFloat, "NCHW -1 -1 x -1"},
      {{224, 320, 3}, kFloat, "HWC 3 224 x 320"},
      {{3, 224, 320}, TensorProto::FLOAT16, "CHW 3 224 x 320"},
      // As many rows or columns as channels: the first axis decides.
      {{1, 3, 3, 3}, kFloat, "NCHW 3 3 x 3"},
      {{1, 4, 8, 8}, kFloat, "none"},
      {{1, 3}, kFloat, "none"},
      {{1, 3, 8, 8}, TensorProto::INT64, "none"},
  };
  for (const auto& row : rows) EXPECT_EQ(TextOf(ImageFormOf(row.dims, row.type)), row.want);
}

// Two channels of 1 x 3 pixels.
Tensor Planes() {
  Tensor image(std::vector<int64_t>{1, 2, 1, 3}, CPU);
  const float values[] = {0, 1.4f, 1.6f, -5, 255, 300};
  std::copy_n(values, 6, image.mutable_data<float>());
  return image;
}

TEST(ImageFormTest, ArrangesAnImage) {
  const Tensor last = InImageForm(Planes(), {.channels_last = true});
  EXPECT_EQ(last.dims(), (std::vector<int64_t>{1, 1, 3, 2}));
  EXPECT_EQ(std::vector<float>(last.data<float>(), last.data<float>() + 6),
            (std::vector<float>{0, -5, 1.4f, 255, 1.6f, 300}));
  const Tensor bytes = InImageForm(Planes(), {.has_batch = false, .bytes = true});
  EXPECT_EQ(bytes.dims(), (std::vector<int64_t>{2, 1, 3}));
  EXPECT_EQ(std::vector<uint8_t>(bytes.data<uint8_t>(), bytes.data<uint8_t>() + 6),
            (std::vector<uint8_t>{0, 1, 2, 0, 255, 255}));
  EXPECT_EQ(InImageForm(Planes(), {}).dims(), (std::vector<int64_t>{1, 2, 1, 3}));
}

TEST(ImageFormTest, ArrangesRowsAndColumnsOfChannelsLast) {
  Tensor image(std::vector<int64_t>{1, 3, 2, 2}, CPU);
  for (int i = 0; i < 12; ++i) image.mutable_data<float>()[i] = static_cast<float>(i);
  const Tensor last = InImageForm(std::move(image), {.has_batch = false, .channels_last = true});
  EXPECT_EQ(last.dims(), (std::vector<int64_t>{2, 2, 3}));
  EXPECT_EQ(std::vector<float>(last.data<float>(), last.data<float>() + 12),
            (std::vector<float>{0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11}));
}

TEST(ImageFormTest, BytesAreRoundedAndLimited) {
  Tensor image(std::vector<int64_t>{1, 1, 1, 6}, CPU);
  const float values[] = {0.5f, 254.4f, 254.5f, 255.4f, -0.4f, -0.6f};
  std::copy_n(values, 6, image.mutable_data<float>());
  const Tensor bytes = InImageForm(std::move(image), {.channels_last = true, .bytes = true});
  EXPECT_EQ(bytes.dims(), (std::vector<int64_t>{1, 1, 6, 1}));
  EXPECT_EQ(std::vector<uint8_t>(bytes.data<uint8_t>(), bytes.data<uint8_t>() + 6),
            (std::vector<uint8_t>{1, 254, 255, 255, 0, 0}));
}

}  // namespace
}  // namespace caffe2rt::image_preparation_test
