// The operators of operators/image on CUDA: odd sizes, both storage orders, and empty inputs.
#include "tests/support/devices_agree.h"

namespace caffe2rt::test::image_cuda_test {
namespace {

using ImageCudaTest = OnDeviceTest;

TEST_F(ImageCudaTest, ShufflesChannels) {
  FeedRange<float>(&ws_, "x", {2, 6, 3, 5});
  FeedRange<float>(&ws_, "matrix", {3, 4});
  FeedRange<float>(&ws_, "none", {0, 4, 2, 2});
  for (const char* arg : {R"(arg { name: "group" i: 2 })", R"(arg { name: "group" i: 3 })", "",
                          R"(arg { name: "group" i: 5 } arg { name: "order" s: "NHWC" })"}) {
    ExpectDevicesAgree(&ws_,
                       std::string(R"(type: "ChannelShuffle" input: "x" output: "y" )") + arg);
  }
  const std::string two = R"( output: "y" arg { name: "group" i: 2 })";
  ExpectDevicesAgree(&ws_, R"(type: "ChannelShuffle" input: "matrix")" + two);
  ExpectDevicesAgree(&ws_, R"(type: "ChannelShuffle" input: "none")" + two);
}

TEST_F(ImageCudaTest, PadsAndCrops) {
  FeedRange<float>(&ws_, "x", {2, 3, 4, 5});
  FeedRange<float>(&ws_, "none", {0, 3, 4, 5});
  const std::string pads = R"(arg { name: "pad_t" i: 1 } arg { name: "pad_l" i: 2 }
      arg { name: "pad_b" i: 2 } arg { name: "pad_r" i: 0 })";
  for (const char* mode : {"constant", "reflect", "edge"}) {
    for (const char* order : {"NCHW", "NHWC"}) {
      const std::string args =
          R"( output: "y" arg { name: "value" f: 7.5 } arg { name: "mode" s: ")" +
          std::string(mode) + "\" } arg { name: \"order\" s: \"" + order + "\" }";
      ExpectDevicesAgree(&ws_, "type: \"PadImage\" input: \"x\"" + args + pads);
      ExpectDevicesAgree(&ws_, "type: \"PadImage\" input: \"x\"" + args +
                                   R"(arg { name: "pads" ints: -1 ints: 1 ints: 0 ints: -2 })");
      ExpectDevicesAgree(&ws_, "type: \"PadImage\" input: \"none\"" + args + pads);
    }
  }
}

TEST_F(ImageCudaTest, ResizesToTheNearestPixel) {
  FeedRange<float>(&ws_, "x", {2, 3, 5, 7});
  FeedRange<float>(&ws_, "none", {0, 3, 5, 7});
  Feed<float>(&ws_, "scales", {2}, {1.7f, 0.4f});
  for (const char* order : {"NCHW", "NHWC"}) {
    const std::string in_order =
        R"( output: "y" arg { name: "order" s: ")" + std::string(order) + "\" }";
    const std::string scales = R"(arg { name: "height_scale" f: 2.3 }
        arg { name: "width_scale" f: 0.6 })";
    ExpectDevicesAgree(&ws_, "type: \"ResizeNearest\" input: \"x\"" + in_order + scales);
    ExpectDevicesAgree(&ws_, "type: \"ResizeNearest\" input: \"none\"" + in_order + scales);
    ExpectDevicesAgree(&ws_, "type: \"ResizeNearest\" input: \"x\" input: \"scales\"" + in_order);
    ExpectDevicesAgree(&ws_, "type: \"ResizeNearest\" input: \"x\" input: \"scales\"" + in_order,
                       {.stay = {"scales"}});
  }
  FeedRange<float>(&ws_, "rank3", {2, 5, 3});
  ExpectDevicesAgree(&ws_, R"(type: "UpsampleNearest" input: "x" output: "y")");
  ExpectDevicesAgree(
      &ws_, R"(type: "UpsampleNearest" input: "rank3" output: "y" arg { name: "scale" i: 3 })");
}

TEST_F(ImageCudaTest, Interpolates) {
  FeedRandom(&ws_, "x", {2, 3, 5, 7});
  FeedRandom(&ws_, "line", {1, 1, 1, 4});
  Feed<float>(&ws_, "scales", {2}, {0.2f, 2.5f});
  const std::string scales = R"( output: "y" arg { name: "height_scale" f: 2.3 }
      arg { name: "width_scale" f: 1.6 })";
  ExpectDevicesAgree(&ws_, R"(type: "UpsampleBilinear" input: "x")" + scales);
  ExpectDevicesAgree(&ws_, R"(type: "UpsampleBilinear" input: "line")" + scales);
  ExpectDevicesAgree(&ws_, R"(type: "UpsampleBilinear" input: "x" input: "scales" output: "y")");
}

TEST_F(ImageCudaTest, SplitsAndAssemblesImages) {
  FeedRange<float>(&ws_, "wide", {2, 3, 6, 9}, 1);
  FeedRange<float>(&ws_, "narrow", {18, 2, 3, 2}, 1);
  const std::string block3 = R"( output: "y" arg { name: "block_size" i: 3 })";
  ExpectDevicesAgree(&ws_, R"(type: "SpaceToBatch" input: "wide")" + block3);
  ExpectDevicesAgree(
      &ws_, R"(type: "SpaceToBatch" input: "wide")" + block3 + R"(arg { name: "pad" i: 3 })");
  ExpectDevicesAgree(&ws_, R"(type: "BatchToSpace" input: "narrow")" + block3);
  ExpectDevicesAgree(&ws_, R"(type: "BatchToSpace" input: "narrow")" + block3 +
                               R"(arg { name: "pad" i: 1 } arg { name: "pad_t" i: 2 })");
  ExpectDevicesAgree(&ws_,
                     R"(type: "BatchToSpace" input: "narrow")" + block3 +
                         R"(arg { name: "pad" i: -1 })");  // some output elements receive no value
  FeedRange<float>(&ws_, "none", {0, 2, 3, 3});
  ExpectDevicesAgree(&ws_, R"(type: "SpaceToBatch" input: "none")" + block3);
  ExpectDevicesAgree(&ws_, R"(type: "BatchToSpace" input: "none")" + block3);
}

TEST_F(ImageCudaTest, GradientsAgreeWithTheCpu) {
  FeedRandom(&ws_, "x", {2, 4, 5, 4});
  FeedRandom(&ws_, "scales", {2}, 1.2f, 1.9f);
  const std::string in = R"( input: "dy" output: "dx" )",
                    in_x = R"( input: "dy" input: "x" output: "dx" )";
  const auto agree = [&](const std::string& text) {
    ExpectDevicesAgree(&ws_, text, {.tolerance = 1e-6});
  };
  for (const char* order : {"NCHW", "NHWC"}) {
    const bool last = std::string(order) == "NHWC";
    const std::string args = MakeString("arg { name: \"order\" s: \"", order, "\" }");
    for (const std::string mode : {"constant", "reflect", "edge"}) {
      for (const char* pads : {"2 ints: 1 ints: 3 ints: 0", "-1 ints: 2 ints: 1 ints: -2",
                               "5 ints: 5 ints: 0 ints: 0"}) {
        FeedRandom(&ws_, "dy", {2, 9, 9, 9});
        agree("type: \"PadImageGradient\"" + in + args + " arg { name: \"mode\" s: \"" + mode +
              "\" } arg { name: \"pads\" ints: " + pads + " }");
      }
    }
    FeedRandom(&ws_, "dy", {2, 12, 3, 12});
    agree("type: \"ChannelShuffleGradient\"" + in + args + " arg { name: \"group\" i: 3 }");
    for (const float scale : {2.0f, 2.3f, 0.6f}) {
      const int64_t first = static_cast<int64_t>((last ? 4 : 5) * scale);
      const int64_t second = static_cast<int64_t>((last ? 5 : 4) * scale);
      if (last) {
        FeedRandom(&ws_, "dy", {2, first, second, 4});
      } else {
        FeedRandom(&ws_, "dy", {2, 4, first, second});
      }
      agree("type: \"ResizeNearestGradient\"" + in_x + args +
            MakeString(" arg { name: \"height_scale\" f: ", scale,
                       " } arg { name: \"width_scale\" f: ", scale, " }"));
      if (!last) agree("type: \"UpsampleBilinearGradient\"" + in_x);
    }
  }
  FeedRandom(&ws_, "dy", {2, 4, 7, 6});
  agree(R"(type: "ResizeNearestGradient" input: "dy" input: "x" input: "scales" output: "dx")");
  FeedRandom(&ws_, "dy", {2, 4, 15, 12});
  agree(R"(type: "UpsampleNearestGradient" input: "x" input: "dy" output: "dx"
           arg { name: "scale" i: 3 })");
}

}  // namespace
}  // namespace caffe2rt::test::image_cuda_test
