#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::roi_align_rotated_test {
namespace {

std::string Rotated(const std::string& args) {
  return R"(type: "RoIAlignRotated" input: "X" input: "R" output: "Y" )" + args;
}
const char* const kBins = R"(arg { name: "pooled_h" i: 2 } arg { name: "pooled_w" i: 2 } )";

// The value of a plane at a position between pixels, 0 more than one pixel outside.
double Bilinear(const float* plane, int64_t height, int64_t width, double y, double x) {
  if (y < -1 || y > height || x < -1 || x > width) return 0;
  y = std::clamp(y, 0.0, height - 1.0);
  x = std::clamp(x, 0.0, width - 1.0);
  double value = 0;
  for (int64_t i = 0; i < height * width; ++i) {
    const double dy = 1 - std::abs(y - i / width), dx = 1 - std::abs(x - i % width);
    if (dy > 0 && dx > 0) value += dy * dx * plane[i];
  }
  return value;
}

// The definition: the samples of each bin, turned counterclockwise around the center.
TEST(RoIAlignRotatedTest, AgreesWithTheDefinition) {
  constexpr int64_t kHeight = 7, kWidth = 9, kRois = 12, kRows = 2, kColumns = 3, kSamples = 2;
  const std::vector<float> x = RandomValues(kHeight * kWidth, -1, 1, 3);
  const std::vector<float> random = RandomValues(kRois * 5, 0, 1, 4);
  std::vector<float> rois, want;
  for (size_t r = 0; r < kRois; ++r) {
    const float* const at = random.data() + r * 5;
    const float roi[] = {at[0] * kWidth, at[1] * kHeight, 1 + 8 * at[2], 1 + 6 * at[3],
                         720 * at[4] - 360};
    rois.insert(rois.end(), std::begin(roi), std::end(roi));
    const double angle = roi[4] * std::acos(-1.0) / 180;
    for (int64_t bin = 0; bin < kRows * kColumns; ++bin) {
      double sum = 0;
      for (int64_t k = 0; k < kSamples * kSamples; ++k) {
        const double row = bin / kColumns + (k / kSamples + 0.5) / kSamples;
        const double column = bin % kColumns + (k % kSamples + 0.5) / kSamples;
        const double dx = (column / kColumns - 0.5) * roi[2], dy = (row / kRows - 0.5) * roi[3];
        sum += Bilinear(x.data(), kHeight, kWidth,
                        roi[1] + dy * std::cos(angle) - dx * std::sin(angle),
                        roi[0] + dx * std::cos(angle) + dy * std::sin(angle));
      }
      want.push_back(static_cast<float>(sum / (kSamples * kSamples)));
    }
  }
  Workspace ws;
  Feed<float>(&ws, "X", {1, 1, kHeight, kWidth}, x);
  Feed<float>(&ws, "R", {kRois, 5}, rois);
  RunOp(&ws, Rotated("arg { name: 'pooled_h' i: 2 } arg { name: 'pooled_w' i: 3 } "
                     "arg { name: 'sampling_ratio' i: 2 }"));
  ExpectTensor<float>(ws, "Y", {kRois, 1, kRows, kColumns}, want, 1e-4);
}

// X[y, x] = 10 y + x. The RoI is centered at (3, 3) and 2 x 2 large: bins at 2.5 and 3.5.
TEST(RoIAlignRotatedTest, TurnsTheBins) {
  Workspace ws;
  Tensor* const x = FeedRange<float>(&ws, "X", {1, 1, 7, 7});
  for (int i = 0; i < 49; ++i)
    x->mutable_data<float>()[i] = static_cast<float>(10 * (i / 7) + i % 7);
  Feed<float>(&ws, "R", {3, 5}, {3, 3, 2, 2, 0, 3, 3, 2, 2, 90, 3, 3, 2, 2, 180});
  RunOp(&ws, Rotated(kBins));
  // A quarter turn moves the upper left bin to the lower left.
  ExpectTensor<float>(ws, "Y", {3, 1, 2, 2},
                      {27.5, 28.5, 37.5, 38.5, 37.5, 27.5, 38.5, 28.5, 38.5, 37.5, 28.5, 27.5},
                      1e-4);
  ExpectShapeInferred(&ws, Rotated(kBins));
  RunOp(&ws, Rotated(std::string(kBins) + R"(arg { name: "aligned" i: 1 })"));
  EXPECT_NEAR(Fetch<float>(ws, "Y")[0], 27.5 - 5.5, 1e-4);
}

TEST(RoIAlignRotatedTest, IsRoIAlignWithoutAnAngle) {
  for (const auto& [rows, columns] : {std::pair{2, 2}, {2, 3}, {3, 1}, {1, 4}}) {
    for (const bool nhwc : {false, true}) {
      const std::string args = MakeString(
          "arg { name: 'pooled_h' i: ", rows, " } arg { name: 'pooled_w' i: ", columns,
          " } arg { name: 'sampling_ratio' i: 2 }", nhwc ? " arg { name: 'order' s: 'NHWC' }" : "");
      Workspace ws;
      FeedRandom(&ws, "X",
                 nhwc ? std::vector<int64_t>{2, 6, 7, 3} : std::vector<int64_t>{2, 3, 6, 7});
      Feed<float>(&ws, "R", {2, 5}, {1, 0.5f, 1, 5.5f, 4, 0, -1, -2, 2, 9});
      RunOp(&ws, "type: 'RoIAlign' input: 'X' input: 'R' output: 'Y' " + args);
      const std::vector<float> want = Fetch<float>(ws, "Y");
      const std::vector<int64_t> dims = DimsOf(ws, "Y");
      Feed<float>(&ws, "R", {2, 6}, {1, 3, 2.5f, 5, 3, 0, 0, 0.5f, 3.5f, 3, 11, 0});
      RunOp(&ws, Rotated(args));
      ExpectTensor<float>(ws, "Y", dims, want, 1e-5);
      RunOp(&ws,
            "type: 'RoIAlignRotatedGradient' input: 'X' input: 'R' input: 'Y' output: 'D' " + args);
      const std::vector<float> gradient = Fetch<float>(ws, "D");
      Feed<float>(&ws, "R", {2, 5}, {1, 0.5f, 1, 5.5f, 4, 0, -1, -2, 2, 9});
      RunOp(&ws, "type: 'RoIAlignGradient' input: 'X' input: 'R' input: 'Y' output: 'D' " + args);
      ExpectTensor<float>(ws, "D", DimsOf(ws, "X"), gradient, 1e-4);
    }
  }
}

TEST(RoIAlignRotatedTest, GradientMatchesDifferences) {
  for (const bool nhwc : {false, true}) {
    Workspace ws;
    FeedRandom(&ws, "X",
               nhwc ? std::vector<int64_t>{2, 4, 5, 3} : std::vector<int64_t>{2, 3, 4, 5});
    Feed<float>(&ws, "R", {3, 6}, {1, 2, 2, 3, 2, 30, 0, 1, 1, 9, 1, -70, 0, 4, 3, 1, 1, 200});
    ExpectGradientMatches(
        &ws, Rotated(kBins + std::string(nhwc ? R"(arg { name: "order" s: "NHWC" })" : "")),
        {.inputs = {"X"}});
  }
  EXPECT_EQ(DescribeGradient(Rotated("")),
            "RoIAlignRotatedGradient(X,R,Y_grad)->X_grad | X_grad -");
}

TEST(RoIAlignRotatedTest, AcceptsNoRoIs) {
  Workspace ws;
  FeedRandom(&ws, "X", {1, 2, 3, 3});
  Feed<float>(&ws, "R", {0, 6}, {});
  RunOp(&ws, Rotated(kBins));
  ExpectTensor<float>(ws, "Y", {0, 2, 2, 2}, {});
  Feed<float>(&ws, "R", {10, 0}, {});  // of any shape, as in Caffe2
  RunOp(&ws, Rotated(kBins));
  ExpectShapeInferred(&ws, Rotated(kBins));
  ExpectTensor<float>(ws, "Y", {0, 2, 2, 2}, {});
}

// A dimension that is not known counts as 0 in the shape, which does not make it empty.
TEST(RoIAlignRotatedTest, InfersNoShapeFromRoIsOfUnknownNumber) {
  const auto shape = [](const std::vector<int64_t>& dims) {
    return CreateTensorShape(dims, TensorProto::FLOAT);
  };
  TensorShape rois = shape({0, 6});
  const OpSchema& schema = *OpSchemaRegistry::Schema("RoIAlignRotated");
  const OperatorDef op = ParseOp(Rotated(kBins));
  EXPECT_EQ(GetDimsVector(schema.InferTensor(op, {shape({1, 2, 3, 3}), rois}).at(0)),
            (std::vector<int64_t>{0, 2, 2, 2}));
  rois.add_unknown_dims(0);
  EXPECT_TRUE(schema.InferTensor(op, {shape({1, 2, 3, 3}), rois}).at(0).unknown_shape());
}

TEST(RoIAlignRotatedTest, RejectsInvalidRoIs) {
  Workspace ws;
  FeedRandom(&ws, "X", {1, 1, 4, 4});
  const auto expect = [&](const std::vector<float>& roi, const std::string& args,
                          const std::string& part) {
    Feed<float>(&ws, "R", {1, 6}, roi);
    ExpectThrows([&] { RunOp(&ws, Rotated(args)); }, part);
  };
  const float inf = std::numeric_limits<float>::infinity();
  expect({1, 1, 1, 2, 2, 0}, "", "of an image that does not exist");
  expect({0, 1, 1, 2, 2, inf}, "", "is not finite");
  expect({0, 1, 1, inf, 2, 0}, "", "is not finite");
  expect({0, 1, 1, 1e9f, 2, 0}, "", "is too large");
  expect({0, 1, 1, 2000, 2000, 0}, "", "more than 1048576 samples");
  expect({0, 1, 1, -1, 2, 0}, R"(arg { name: "aligned" i: 1 })", "has a negative size");
  FeedRandom(&ws, "R", {1, 4});
  ExpectThrows([&] { RunOp(&ws, Rotated("")); }, "want 6 columns, or one less without the image");
}

}  // namespace
}  // namespace caffe2rt::test::roi_align_rotated_test
