// Compares the operators on sequences on CUDA with the CPU, on random segments and rows of all
// widths of words.

#include <gtest/gtest.h>

#include <numeric>

#include "caffe2_core/base/float16.h"
#include "tests/support/device_run.h"
#include "tests/support/devices_agree.h"

namespace caffe2rt::test::sequence_cuda_test {
namespace {

using SequenceOnCudaTest = OnDeviceTest;

// Feeds lengths L with zeros among them, and returns their sum.
int32_t FeedLengths(Workspace* ws, int count, int32_t least, uint32_t seed) {
  const std::vector<float> random = RandomValues(count, 0, 5, seed);
  std::vector<int32_t> lengths;
  for (const float value : random) lengths.push_back(least + static_cast<int32_t>(value));
  Feed<int32_t>(ws, "L", {count}, lengths);
  return std::accumulate(lengths.begin(), lengths.end(), 0);
}

TEST_F(SequenceOnCudaTest, PacksAndUnpacksLikeTheCpu) {
  for (const int64_t block : {1, 2, 3, 4, 6, 8, 33}) {
    const int32_t rows = FeedLengths(&ws_, 20, 0, static_cast<uint32_t>(block));
    FeedRandom(&ws_, "X", {rows, block});
    const std::string pack = R"(type: "PackSegments" input: "L" input: "X" output: "Y" output: "M"
                                arg { name: "return_presence_mask" i: 1 })";
    ExpectDevicesAgree(&ws_, pack);
    ExpectDevicesAgree(&ws_, R"(type: "UnpackSegments" input: "L" input: "Y" output: "Z")");
    ExpectTensor<float>(ws_, "Z", {rows, block}, Fetch<float>(ws_, "X"));
    ExpectDevicesAgree(&ws_, pack + R"( arg { name: "pad_minf" i: 1 })");
    const std::string cut = R"( arg { name: "max_length" i: 2 })";
    ExpectDevicesAgree(&ws_, pack + cut);
    ExpectDevicesAgree(&ws_, R"(type: "UnpackSegments" input: "L" input: "Y" output: "Z")" + cut);
  }
}

TEST_F(SequenceOnCudaTest, PadsAndTrimsLikeTheCpu) {
  for (const int64_t block : {1, 3, 8, 40}) {
    const int32_t rows = FeedLengths(&ws_, 30, 3, static_cast<uint32_t>(block)) + 2;
    FeedRandom(&ws_, "X", {rows, block});
    FeedRandom(&ws_, "S", {block}, -1, 1, 2);
    FeedRandom(&ws_, "E", {block}, -1, 1, 3);
    const std::string widths =
        R"( arg { name: "padding_width" i: 2 } arg { name: "end_padding_width" i: 1 })";
    ExpectDevicesAgree(
        &ws_, R"(type: "AddPadding" input: "X" input: "L" output: "Y" output: "M")" + widths);
    ExpectDevicesAgree(&ws_, R"(type: "AddPadding" input: "X" input: "L" input: "S" input: "E"
                                output: "Y" output: "M")" +
                                 widths);
    ExpectDevicesAgree(
        &ws_, R"(type: "RemovePadding" input: "X" input: "L" output: "Y" output: "M")" + widths);
    ExpectDevicesAgree(
        &ws_, R"(type: "GatherPadding" input: "X" input: "L" output: "Y" output: "M")" + widths,
        {.tolerance = 1e-5});
    ExpectDevicesAgree(&ws_, R"(type: "GatherPadding" input: "X" input: "L" output: "Y")" + widths,
                       {.tolerance = 1e-5});
  }
}

TEST_F(SequenceOnCudaTest, ReversesLikeTheCpu) {
  for (const int64_t block : {1, 2, 5, 16}) {
    FeedLengths(&ws_, 7, 0, static_cast<uint32_t>(block));
    FeedRandom(&ws_, "X", {6, 7, block});
    ExpectDevicesAgree(&ws_, R"(type: "ReversePackedSegs" input: "X" input: "L" output: "Y")");
  }
}

TEST_F(SequenceOnCudaTest, MasksLikeTheCpu) {
  FeedRandom(&ws_, "X", {3, 4, 5, 2});
  FeedLengths(&ws_, 12, -1, 1);
  for (const char* mode : {"sequence", "window", "upper", "lower", "upperdiag", "lowerdiag"}) {
    for (const char* args :
         {"", R"(arg { name: "axis" i: 2 } arg { name: "batch" i: 0 })",
          R"(arg { name: "axis" i: -1 } arg { name: "batch" i: 1 } arg { name: "grad" i: 1 })"}) {
      ExpectDevicesAgree(&ws_, MakeString(R"(type: "SequenceMask" input: "X" input: "L" output: "Y"
                                             arg { name: "radius" i: 2 } arg { name: "mode" s: ")",
                                          mode, "\" } ", args));
    }
  }
  ExpectDevicesAgree(&ws_, R"(type: "SequenceMask" input: "X" input: "L" output: "Y"
                              arg { name: "mode" s: "sequence" } arg { name: "axis" i: 2 }
                              arg { name: "repeat_from_axis" i: 3 })");
}

// The CPU accepts only floats, as in Caffe2.
TEST_F(SequenceOnCudaTest, MasksFloat16) {
  Feed<float16>(&ws_, "X", {2, 2}, {float16(1.f), float16(2.f), float16(3.f), float16(4.f)});
  Feed<int32_t>(&ws_, "L", {2}, {1, 2});
  RunOperatorOn(CUDA, ParseOp(R"(type: "SequenceMask" input: "X" input: "L" output: "Y"
                                 arg { name: "mode" s: "sequence" })"),
                &ws_);
  const Tensor& y = ws_.GetBlob("Y")->Get<Tensor>();
  const float16* const values = y.data<float16>();
  EXPECT_EQ(static_cast<float>(values[0]), 1);
  EXPECT_EQ(values[1].x, 0xfc00);  // -infinity
  EXPECT_EQ(static_cast<float>(values[2]), 3);
  EXPECT_EQ(static_cast<float>(values[3]), 4);
}

}  // namespace
}  // namespace caffe2rt::test::sequence_cuda_test
