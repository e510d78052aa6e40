// The demo: its files match what its code generates, and its net classifies images that are not
// shipped with it.

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

#include "binaries/demo/stripes.h"
#include "caffe2_core/io/proto_file.h"
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

TEST(StripesDemoTest, ClassifiesAtLeast95PercentOfFreshImages) {
  Predictor predictor(StripesInitNet(), StripesPredictNet());
  constexpr int kEach = 100;
  int right = 0;
  for (int direction = 0; direction < kDirections; ++direction) {
    for (uint32_t seed = 1000; seed < 1000 + kEach; ++seed) {
      const StripesImage stripes = DrawStripes(direction, seed);
      Tensor data(std::vector<int64_t>{1, 3, kImageSize, kImageSize}, CPU);
      float* to = data.mutable_data<float>();
      constexpr int kPixels = kImageSize * kImageSize;
      for (int p = 0; p < kPixels; ++p) {
        for (int c = 0; c < 3; ++c)
          to[c * kPixels + p] = stripes.rgb[static_cast<size_t>(p * 3 + c)];
      }
      std::vector<Tensor> out;
      predictor({data}, &out);
      const float* scores = out[0].data<float>();
      right += std::max_element(scores, scores + kDirections) - scores == direction;
    }
  }
  EXPECT_GE(right, kDirections * kEach * 95 / 100);
  RecordProperty("right", right);
}

}  // namespace
}  // namespace caffe2rt::demo::demo_test
