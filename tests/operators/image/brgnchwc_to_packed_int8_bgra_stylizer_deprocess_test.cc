#include <limits>

#include "tests/support/operator_test.h"

namespace caffe2rt::brgnchwc_to_packed_int8_bgra_stylizer_deprocess_test {
namespace {

using namespace test;  // used throughout this file

constexpr char kPack[] = R"(type: "BRGNCHWCToPackedInt8BGRAStylizerDeprocess" input: "X"
                            input: "mean" output: "Y")";

TEST(StylizerDeprocessTest, ClampsAndTruncates) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  Workspace ws;
  Feed<float>(&ws, "X", {1, 3, 1, 3}, {-5, 0.9f, 253.9f, 300, kNaN, kInf, -kInf, 1, 2});
  Feed<float>(&ws, "mean", {3}, {1, 0, 10});
  RunOp(&ws, kPack);
  ExpectTensor<uint8_t>(ws, "Y", {1, 1, 3, 4}, {0, 255, 0, 255, 1, 0, 11, 255, 254, 255, 12, 255});
  ExpectShapeInferred(&ws, kPack);
}

TEST(StylizerDeprocessTest, PacksLongRowsOfSeveralImages) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {2, 3, 5, 7});
  Feed<float>(&ws, "mean", {3}, {0.5f, 0.5f, 0.5f});
  RunOp(&ws, kPack);
  const std::vector<uint8_t> y = Fetch<uint8_t>(ws, "Y");
  for (int n = 0; n < 2; ++n) {
    for (int p = 0; p < 35; ++p) {
      for (int c = 0; c < 3; ++c) {
        EXPECT_EQ(y[(n * 35 + p) * 4 + c], (n * 3 + c) * 35 + p) << n << " " << p << " " << c;
      }
      EXPECT_EQ(y[(n * 35 + p) * 4 + 3], 255);
    }
  }
}

TEST(StylizerDeprocessTest, EmptyImagesStayEmpty) {
  Workspace ws;
  Feed<float>(&ws, "X", {0, 3, 2, 2}, {});
  Feed<float>(&ws, "mean", {3}, {0, 0, 0});
  RunOp(&ws, kPack);
  ExpectTensor<uint8_t>(ws, "Y", {0, 2, 2, 4}, {});
}

TEST(StylizerDeprocessTest, NamesWhatDoesNotFit) {
  Workspace ws;
  Feed<float>(&ws, "mean", {3}, {0, 0, 0});
  FeedRange<float>(&ws, "X", {1, 4, 1, 1});
  ExpectThrows([&] { RunOp(&ws, kPack); }, "input 0 (X) has shape [1, 4, 1, 1]");
  FeedRange<uint8_t>(&ws, "X", {1, 3, 1, 1});
  ExpectThrows([&] { RunOp(&ws, kPack); }, "float");
  FeedRange<float>(&ws, "X", {1, 3, 1, 1});
  FeedRange<float>(&ws, "mean", {4});
  ExpectThrows([&] { RunOp(&ws, kPack); }, "elements of input 1 (mean)");
}

}  // namespace
}  // namespace caffe2rt::brgnchwc_to_packed_int8_bgra_stylizer_deprocess_test
