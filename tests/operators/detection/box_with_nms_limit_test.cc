#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::box_with_nms_limit_test {
namespace {

std::string Limit(const std::string& args, bool splits = false) {
  return std::string(R"(type: "BoxWithNMSLimit" input: "S" input: "B" )") +
         (splits ? R"(input: "N" )" : "") +
         R"(output: "s" output: "b" output: "c" output: "n" output: "k" output: "z" )" + args;
}

// Three classes, of which the first is the background. Boxes 0 and 1 overlap, box 2 is apart.
class BoxWithNMSLimitTest : public testing::Test {
 protected:
  void SetUp() override {
    Feed<float>(&ws_, "S", {3, 3}, {0.9f, 0.5f, 0.2f, 0.1f, 0.6f, 0.3f, 0.8f, 0.4f, 0.01f});
    std::vector<float> boxes;
    for (const std::vector<float>& box :
         {std::vector<float>{0, 0, 9, 9}, {1, 0, 10, 9}, {20, 0, 29, 9}}) {
      for (int c = 0; c < 3; ++c) {
        for (size_t i = 0; i < 4; ++i) boxes.push_back(box[i] + 100.0f * static_cast<float>(c));
      }
    }
    Feed<float>(&ws_, "B", {3, 12}, boxes);
  }
  Workspace ws_;
};

TEST_F(BoxWithNMSLimitTest, SelectsTheBestBoxesOfEachClass) {
  RunOp(&ws_, Limit(""));
  ExpectTensor<float>(ws_, "s", {3}, {0.6f, 0.4f, 0.3f});
  ExpectTensor<float>(ws_, "b", {3, 4},
                      {101, 100, 110, 109, 120, 100, 129, 109, 201, 200, 210, 209});
  ExpectTensor<float>(ws_, "c", {3}, {1, 1, 2});
  ExpectTensor<float>(ws_, "n", {1}, {3});
  ExpectTensor<int32_t>(ws_, "k", {3}, {1, 2, 1});
  ExpectTensor<int32_t>(ws_, "z", {1, 3}, {0, 2, 1});
  ExpectShapeInferred(&ws_, Limit(""), /*may_be_unknown=*/true);
  RunOp(&ws_, Limit(R"(arg { name: "nms" f: 0.9 } arg { name: "score_thresh" f: 0.25 }
                       arg { name: "output_classes_include_bg_cls" i: 0 })"));
  ExpectTensor<float>(ws_, "s", {4}, {0.6f, 0.5f, 0.4f, 0.3f});
  ExpectTensor<float>(ws_, "c", {4}, {0, 0, 0, 1});
}

TEST_F(BoxWithNMSLimitTest, KeepsTheBestDetectionsOfAnImage) {
  RunOp(&ws_, Limit(R"(arg { name: "detections_per_im" i: 2 })"));
  ExpectTensor<float>(ws_, "s", {2}, {0.6f, 0.4f});
  ExpectTensor<int32_t>(ws_, "z", {1, 3}, {0, 2, 0});
  RunOp(&ws_, Limit(R"(arg { name: "detections_per_im" i: -1 })"));
  EXPECT_EQ(Fetch<float>(ws_, "s").size(), 3u);
}

TEST_F(BoxWithNMSLimitTest, DividesTheRowsAmongImages) {
  for (const bool ints : {false, true}) {
    if (ints) {
      Feed<int32_t>(&ws_, "N", {3}, {1, 0, 2});
    } else {
      Feed<float>(&ws_, "N", {3}, {1, 0, 2});
    }
    RunOp(&ws_, Limit("", true));
    ExpectTensor<float>(ws_, "s", {5}, {0.5f, 0.2f, 0.6f, 0.4f, 0.3f});
    ExpectTensor<float>(ws_, "n", {3}, {2, 0, 3});
    ExpectTensor<int32_t>(ws_, "k", {5}, {0, 0, 0, 1, 0});
    ExpectTensor<int32_t>(ws_, "z", {3, 3}, {0, 1, 1, 0, 0, 0, 0, 2, 1});
  }
}

TEST_F(BoxWithNMSLimitTest, SoftSuppressionDecreasesScores) {
  RunOp(&ws_, Limit(R"(arg { name: "soft_nms_enabled" i: 1 })"));
  const float apart = 1 - 90.0f / 110;  // the share of the union that is not common
  ExpectTensor<float>(ws_, "s", {5}, {0.6f, 0.4f, 0.5f * apart, 0.3f, 0.2f * apart}, 1e-6);
  ExpectTensor<int32_t>(ws_, "k", {5}, {1, 2, 0, 1, 0});
  RunOp(&ws_,
        Limit(R"(arg { name: "soft_nms_enabled" i: 1 } arg { name: "soft_nms_method" s: "gaussian" }
                       arg { name: "soft_nms_sigma" f: 0.25 } arg { name: "soft_nms_min_score_thres" f: 0.05 }
                       arg { name: "detections_per_im" i: 2 })"));
  ExpectTensor<float>(ws_, "s", {2}, {0.6f, 0.4f}, 1e-6);
}

TEST_F(BoxWithNMSLimitTest, AcceptsFewerBoxes) {
  Feed<float>(&ws_, "B", {3, 4}, {0, 0, 9, 9, 1, 0, 10, 9, 20, 0, 29, 9});
  RunOp(&ws_, Limit(R"(arg { name: "cls_agnostic_bbox_reg" i: 1 })"));
  ExpectTensor<float>(ws_, "s", {3}, {0.6f, 0.4f, 0.3f});
  ExpectTensor<float>(ws_, "b", {3, 4}, {1, 0, 10, 9, 20, 0, 29, 9, 1, 0, 10, 9});
  // The columns of scores are those of class 1, class 2 and nothing.
  Feed<float>(&ws_, "B", {3, 8},
              {0, 0, 9, 9, 0, 0, 5, 5, 1, 0, 10, 9, 50, 0, 60, 9, 20, 0, 29, 9, 0, 0, 1, 1});
  RunOp(&ws_, Limit(R"(arg { name: "input_boxes_include_bg_cls" i: 0 })"));
  ExpectTensor<float>(ws_, "s", {5}, {0.9f, 0.8f, 0.6f, 0.5f, 0.4f});
  ExpectTensor<float>(ws_, "c", {5}, {1, 1, 2, 2, 2});
}

TEST_F(BoxWithNMSLimitTest, AcceptsRotatedBoxes) {
  Feed<float>(&ws_, "S", {3, 2}, {0, 0.9f, 0, 0.8f, 0, 0.7f});
  Feed<float>(&ws_, "B", {3, 10}, {0, 0, 0, 0, 0,  5, 5, 8, 2, 0, 0, 0, 0, 0, 0,
                                   5, 5, 2, 8, 90, 0, 0, 0, 0, 0, 5, 5, 8, 2, 90});
  RunOp(&ws_, Limit(R"(arg { name: "rotated" i: 1 })"));
  ExpectTensor<float>(ws_, "s", {2}, {0.9f, 0.7f});
  ExpectTensor<float>(ws_, "b", {2, 5}, {5, 5, 8, 2, 0, 5, 5, 8, 2, 90});
}

TEST_F(BoxWithNMSLimitTest, AcceptsNoRowsAndNaN) {
  Feed<float>(&ws_, "S", {0, 3}, {});
  Feed<float>(&ws_, "B", {0, 12}, {});
  RunOp(&ws_, Limit(""));
  ExpectTensor<float>(ws_, "s", {0}, {});
  ExpectTensor<float>(ws_, "b", {0, 4}, {});
  ExpectTensor<float>(ws_, "n", {1}, {0});
  ExpectTensor<int32_t>(ws_, "z", {1, 3}, {0, 0, 0});
  const float nan = std::numeric_limits<float>::quiet_NaN();
  Feed<float>(&ws_, "S", {2, 2}, {0, nan, 0, 0.5f});
  Feed<float>(&ws_, "B", {2, 8}, {nan, nan, nan, nan, nan, nan, nan, nan, 0, 0, 1, 1, 2, 2, 3, 3});
  RunOp(&ws_, Limit(""));
  ExpectTensor<float>(ws_, "s", {1}, {0.5f});
}

TEST_F(BoxWithNMSLimitTest, NamesWhatDoesNotFit) {
  const auto expect = [&](const std::vector<float>& splits, const std::string& part) {
    Feed<float>(&ws_, "N", {static_cast<int64_t>(splits.size())}, splits);
    ExpectThrows([&] { RunOp(&ws_, Limit("", true)); }, part);
  };
  expect({1, 1}, "sum of input 2 (batch_splits)");
  expect({4, -1}, "input 2 (batch_splits) has value 4, want 0 to 3");
  expect({3, std::numeric_limits<float>::quiet_NaN()}, "want 0 to 3");
  Feed<float>(&ws_, "N", {1, 1}, {3});
  ExpectThrows([&] { RunOp(&ws_, Limit("", true)); }, "rank of input 2 (batch_splits)");
  ExpectThrows([&] { RunOp(&ws_, Limit(R"(arg { name: "soft_nms_method" s: "hard" })")); },
               "want linear or gaussian");
  ExpectThrows(
      [&] { RunOp(&ws_, Limit(R"(arg { name: "rotated" i: 1 })")); },
      "input 1 (boxes) has shape [3, 12], want [3, 15] for input 0 (scores) of shape [3, 3]");
  ExpectThrows(
      [&] {
        RunOp(&ws_,
              R"(type: "BoxWithNMSLimit" input: "S" input: "B" output: "s" output: "b" output: "c"
                       output: "n" output: "k")");
      },
      "number of outputs, want 3, 4 or 6");
  Feed<float>(&ws_, "S", {3}, {1, 1, 1});
  ExpectThrows([&] { RunOp(&ws_, Limit("")); }, "rank of input 0 (scores)");
  ExpectThrows([&] { DescribeGradient(Limit("")); }, "BoxWithNMSLimit");
}

}  // namespace
}  // namespace caffe2rt::test::box_with_nms_limit_test
