// Compares segment operators on CUDA with the CPU on many segments, and checks errors that only
// kernels report.

#include <gtest/gtest.h>

#include <numeric>

#include "tests/support/device_run.h"
#include "tests/support/devices_agree.h"

namespace caffe2rt::test::segment_cuda_test {
namespace {

using SegmentOnCudaTest = OnDeviceTest;

template <class T>
std::vector<T> RandomIntegers(int64_t count, int limit, uint32_t seed) {
  std::vector<T> integers;
  for (const float value : RandomValues(count, 0, static_cast<float>(limit), seed)) {
    integers.push_back(static_cast<T>(value));
  }
  return integers;
}

TEST_F(SegmentOnCudaTest, ReducesUnsortedSegmentsLikeTheCpu) {
  for (const int64_t block : {1, 3, 65}) {
    FeedRandom(&ws_, "X", {500, block});
    Feed<int32_t>(&ws_, "S", {500}, RandomIntegers<int32_t>(500, 40, 3));
    for (const char* type : {"UnsortedSegmentSum", "UnsortedSegmentMean"}) {
      const std::string op = MakeString("type: \"", type, R"(" input: "X" input: "S" output: "Y")");
      ExpectDevicesAgree(&ws_, op, {.tolerance = 1e-6});
      ExpectDevicesAgree(&ws_, op + R"( arg { name: "num_segments" i: 50 })", {.tolerance = 1e-6});
    }
  }
}

TEST_F(SegmentOnCudaTest, ReportsAnIdOutOfRange) {
  FeedRandom(&ws_, "X", {3, 2});
  const char* const op = R"(type: "UnsortedSegmentSum" input: "X" input: "S" output: "Y"
                            arg { name: "num_segments" i: 2 })";
  for (const int32_t bad : {-1, 2}) {
    Feed<int32_t>(&ws_, "S", {3}, {0, bad, 1});
    ExpectDeviceThrows(&ws_, op,
                       MakeString("an element of input SEGMENT_IDS is ", bad, ", want at least 0"));
  }
}

TEST_F(SegmentOnCudaTest, ReportsAnIdOutOfRangeOfEmptyRows) {
  Feed<float>(&ws_, "X", {3, 0}, {});
  Feed<int32_t>(&ws_, "S", {3}, {0, 2, 1});
  for (const char* type : {"UnsortedSegmentSum", "UnsortedSegmentMean"}) {
    for (const int segments : {0, 2}) {
      ExpectDeviceThrows(
          &ws_,
          MakeString("type: '", type, "' input: 'X' input: 'S' output: 'Y' ",
                     "arg { name: 'num_segments' i: ", segments, " }"),
          MakeString("want at least 0 and below the number of segments, ", segments));
    }
  }
  Feed<int32_t>(&ws_, "I", {2}, {1, 3});
  Feed<int32_t>(&ws_, "L", {1}, {2});
  ExpectDeviceThrows(&ws_,
                     R"(type: "SparseLengthsSum" input: "X" input: "I" input: "L" output: "Y")",
                     "an element of input INDICES is 3, want at least 0 and below 3");
}

TEST_F(SegmentOnCudaTest, ReportsAnIndexOutOfRange) {
  FeedRandom(&ws_, "X", {3, 2});
  FeedRandom(&ws_, "W", {2});
  FeedRandom(&ws_, "G", {1, 2});
  Feed<int64_t>(&ws_, "I", {2}, {1, 3});
  Feed<int32_t>(&ws_, "L", {1}, {2});
  ExpectDeviceThrows(&ws_,
                     R"(type: "SparseLengthsSum" input: "X" input: "I" input: "L" output: "Y")",
                     "an element of input INDICES is 3, want at least 0 and below 3");
  ExpectDeviceThrows(&ws_, R"(type: "SparseLengthsIndicesInGradientWeightedSumWithMainInputGradient"
               input: "W" input: "G" input: "L" input: "X" input: "I" output: "Y" output: "Z")",
                     "an element of input INDICES is 3, want at least 0 and below 3");
}

TEST_F(SegmentOnCudaTest, ReducesLengthsLikeTheCpu) {
  for (const int64_t block : {1, 4, 70}) {
    std::vector<int32_t> lengths = RandomIntegers<int32_t>(60, 7, 5);
    const int64_t rows = std::accumulate(lengths.begin(), lengths.end(), int64_t{0});
    Feed<int32_t>(&ws_, "L", {60}, lengths);
    FeedRandom(&ws_, "X", {rows, block});
    FeedRandom(&ws_, "W", {rows}, -1, 1, 7);
    FeedRandom(&ws_, "G", {60, block}, -1, 1, 8);
    Feed<int32_t>(&ws_, "I", {rows}, RandomIntegers<int32_t>(rows, static_cast<int>(rows), 9));
    const auto agree = [&](const std::string& op) {
      ExpectDevicesAgree(&ws_, op, {.tolerance = 1e-5});
    };
    for (const char* type : {"LengthsSum", "LengthsMean", "LengthsMax"}) {
      agree(MakeString("type: \"", type, R"(" input: "X" input: "L" output: "Y")"));
    }
    agree(R"(type: "LengthsMaxWithMainInputAndForwardOutputGradient"
             input: "Y" input: "G" input: "L" input: "X" output: "D")");
    agree(R"(type: "SparseLengthsSum" input: "X" input: "I" input: "L" output: "Y")");
    agree(R"(type: "SparseLengthsMean" input: "X" input: "I" input: "L" output: "Y")");
    agree(R"(type: "SparseLengthsWeightedSum" input: "X" input: "W" input: "I" input: "L"
             output: "Y")");
    agree(R"(type: "SparseLengthsIndicesInGradientMeanGradient" input: "G" input: "L" input: "I"
             output: "D")");
    agree(R"(type: "SparseLengthsIndicesInGradientWeightedSumWithMainInputGradient"
             input: "W" input: "G" input: "L" input: "X" input: "I" output: "D" output: "E")");
  }
}

TEST_F(SegmentOnCudaTest, ReducesRangesLikeTheCpu) {
  std::vector<int32_t> ids;
  for (int32_t s = 0; s < 30; ++s) ids.insert(ids.end(), static_cast<size_t>(1 + s % 5), s);
  const int64_t rows = static_cast<int64_t>(ids.size());
  Feed<int32_t>(&ws_, "S", {rows}, ids);
  FeedRandom(&ws_, "X", {rows, 9}, -3, 3);
  FeedRandom(&ws_, "G", {30, 9}, -1, 1, 2);
  for (const char* type : {"SortedSegmentRangeMean", "SortedSegmentRangeLogMeanExp"}) {
    ExpectDevicesAgree(&ws_, MakeString("type: \"", type, R"(" input: "X" input: "S" output: "Y")"),
                       {.tolerance = 1e-5});
    ExpectDevicesAgree(&ws_,
                       MakeString("type: \"", type, R"(Gradient" input: "X" input: "Y" input: "G"
                                        input: "S" output: "D")"),
                       {.tolerance = 1e-5});
  }
}

TEST_F(SegmentOnCudaTest, FindsUniqueNumbersLikeTheCpu) {
  for (const int64_t n : {1, 2, 1000}) {
    Feed<int64_t>(&ws_, "X", {n}, RandomIntegers<int64_t>(n, 100, 4));
    ExpectDevicesAgree(&ws_, R"(type: "Unique" input: "X" output: "Y" output: "R")");
    Feed<int32_t>(&ws_, "X", {n}, RandomIntegers<int32_t>(n, 1 << 20, 4));
    ExpectDevicesAgree(&ws_, R"(type: "Unique" input: "X" output: "Y")");
  }
}

}  // namespace
}  // namespace caffe2rt::test::segment_cuda_test
