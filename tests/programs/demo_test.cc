// The demo: its files match what its code generates, and its net classifies images that are not
// shipped with it.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "binaries/demo/stripes.h"
#include "caffe2_core/io/proto_file.h"
#include "caffe2_core/model/model_file.h"
#include "caffe2_core/model/predictor.h"
#include "tests/support/shared.h"

namespace caffe2rt::demo::demo_test {
namespace {

std::string Shipped(const std::string& name) {
  return test::SourcePath("binaries/demo/stripes/" + name);
}

// Arguments must be equal; floats may differ in the last digits, because the weights use the
// machine's sine function.
void ExpectSameNet(const NetDef& got, const NetDef& want) {
  ASSERT_EQ(got.op_size(), want.op_size());
  for (int i = 0; i < got.op_size(); ++i) {
    ASSERT_EQ(got.op(i).arg_size(), want.op(i).arg_size()) << "operator " << i;
    EXPECT_EQ(got.op(i).type(), want.op(i).type());
    for (int a = 0; a < got.op(i).arg_size(); ++a) {
      const Argument &x = got.op(i).arg(a), &y = want.op(i).arg(a);
      EXPECT_EQ(x.name(), y.name());
      EXPECT_EQ(x.i(), y.i());
      ASSERT_EQ(x.floats_size(), y.floats_size());
      for (int f = 0; f < x.floats_size(); ++f) ASSERT_NEAR(x.floats(f), y.floats(f), 1e-6);
    }
  }
}

TEST(StripesDemoTest, ShippedNetsAreWhatTheCodeMakes) {
  NetDef init, predict;
  ASSERT_TRUE(ReadProtoFromFile(Shipped("init_net.pb"), &init));
  ASSERT_TRUE(ReadProtoFromFile(Shipped("predict_net.pb"), &predict));
  ExpectSameNet(init, StripesInitNet());
  ExpectSameNet(predict, StripesPredictNet());
}

TEST(StripesDemoTest, ShippedLabelsNameTheDirections) {
  std::ifstream file(Shipped("labels.txt"));
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  EXPECT_EQ(lines, DirectionNames());
}

struct Preparation {
  bool bgr = false;
  float mean = 0, std = 1;
  std::array<int, kDirections> class_of = {0, 1, 2, 3};  // for each direction
};

// How many of 400 images that are not shipped are classified right.
int RightOf400(const Preparation& how, Predictor* predictor) {
  constexpr int kEach = 100, kPixels = kImageSize * kImageSize;
  int right = 0;
  for (int direction = 0; direction < kDirections; ++direction) {
    for (uint32_t seed = 1000; seed < 1000 + kEach; ++seed) {
      const StripesImage stripes = DrawStripes(direction, seed);
      Tensor data(std::vector<int64_t>{1, 3, kImageSize, kImageSize}, CPU);
      float* to = data.mutable_data<float>();
      for (int p = 0; p < kPixels; ++p) {
        for (int c = 0; c < 3; ++c) {
          const uint8_t pixel = stripes.rgb[static_cast<size_t>(p * 3 + (how.bgr ? 2 - c : c))];
          to[c * kPixels + p] = (static_cast<float>(pixel) - how.mean) / how.std;
        }
      }
      std::vector<Tensor> out;
      (*predictor)({data}, &out);
      const float* scores = out[0].data<float>();
      right += std::max_element(scores, scores + kDirections) - scores ==
               how.class_of[static_cast<size_t>(direction)];
    }
  }
  return right;
}

TEST(StripesDemoTest, FormulaClassifiesAtLeast95PercentOfFreshImages) {
  Predictor predictor(StripesInitNet(), StripesPredictNet());
  EXPECT_GE(RightOf400({}, &predictor), 380);
}

// The classes of the trained net are in the order of the names of their folders.
TEST(StripesDemoTest, TrainedNetClassifiesAtLeast95PercentOfFreshImages) {
  Predictor predictor(LoadModel({.predictor_db = Shipped("model.minidb")}));
  ASSERT_EQ(DirectionNames(), (std::vector<std::string>{"horizontal stripes", "vertical stripes",
                                                        "rising stripes", "falling stripes"}));
  const Preparation how{.bgr = true, .mean = 128, .std = 64, .class_of = {1, 3, 2, 0}};
  EXPECT_GE(RightOf400(how, &predictor), 380);
}

}  // namespace
}  // namespace caffe2rt::demo::demo_test
