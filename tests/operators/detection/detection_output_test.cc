#include <cmath>

#include "tests/support/operator_test.h"

namespace caffe2rt::test::detection_output_test {
namespace {

std::string Arg(const std::string& name, const std::string& value) {
  return " arg { name: \"" + name + "\" " + value + " }";
}
std::string Detections(const std::string& args, int classes = 2) {
  return R"(type: "DetectionOutput" input: "loc" input: "conf" input: "prior" output: "Y")" +
         Arg("num_classes", "i: " + std::to_string(classes)) + args;
}

class DetectionOutputTest : public testing::Test {
 protected:
  // One prior, [0, 0, 0.5, 0.5], with a score of 0.9 and these deltas.
  void FeedOne(const std::vector<float>& deltas) {
    Feed<float>(&ws_, "loc", {1, 4}, deltas);
    Feed<float>(&ws_, "conf", {1, 2}, {0.1f, 0.9f});
    Feed<float>(&ws_, "prior", {1, 2, 4}, {0, 0, 0.5f, 0.5f, 0.1f, 0.1f, 0.2f, 0.2f});
  }
  void ExpectBox(const std::string& args, const std::vector<float>& box) {
    RunOp(&ws_, Detections(args));
    std::vector<float> row = {0, 1, 0.9f};
    row.insert(row.end(), box.begin(), box.end());
    ExpectTensor<float>(ws_, "Y", {1, 1, 1, 7}, row, 1e-6f);
  }
  // Priors with these boxes and deltas of 0; the scores of class 1.
  void FeedBoxes(const std::vector<float>& boxes, const std::vector<float>& scores) {
    const auto count = static_cast<int64_t>(scores.size());
    std::vector<float> prior = boxes, conf;
    prior.resize(boxes.size() * 2, 0.1f);
    for (const float score : scores) conf.insert(conf.end(), {0, score});
    Feed<float>(&ws_, "loc", {1, count * 4}, std::vector<float>(boxes.size()));
    Feed<float>(&ws_, "conf", {1, count * 2}, conf);
    Feed<float>(&ws_, "prior", {1, 2, count * 4}, prior);
  }
  std::vector<float> Scores() const {
    const std::vector<float> rows = Fetch<float>(ws_, "Y");
    std::vector<float> scores;
    for (size_t i = 2; i < rows.size(); i += 7) scores.push_back(rows[i]);
    return scores;
  }

  Workspace ws_;
};

TEST_F(DetectionOutputTest, DecodesCorners) {
  FeedOne({1, 2, 3, 4});
  ExpectBox("", {0.1f, 0.2f, 1.1f, 1.3f});  // not clipped
  ExpectBox(Arg("variance_encoded_in_target", "i: 1"), {1, 2, 3.5f, 4.5f});
}

TEST_F(DetectionOutputTest, DecodesCentersAndSizes) {
  // The centre (0.25, 0.25) moves by 0.1 * 0.5 and 0.2 * 0.5; exp(0.2 * d) is 2 and 1.
  FeedOne({1, 2, std::log(2.0f) / 0.2f, 0});
  ExpectBox(Arg("code_type", "s: \"CENTER_SIZE\""), {-0.2f, 0.1f, 0.8f, 0.6f});
  FeedOne({1, 2, std::log(2.0f), 0});
  ExpectBox(Arg("code_type", "s: \"CENTER_SIZE\"") + Arg("variance_encoded_in_target", "i: 1"),
            {0.25f, 1, 1.25f, 1.5f});
}

TEST_F(DetectionOutputTest, DecodesCornersInSizes) {
  FeedOne({1, 2, 3, 4});
  ExpectBox(Arg("code_type", "s: \"CORNER_SIZE\""), {0.05f, 0.1f, 0.8f, 0.9f});
  ExpectBox(Arg("code_type", "s: \"CORNER_SIZE\"") + Arg("variance_encoded_in_target", "i: 1"),
            {0.5f, 1, 2, 2.5f});
}

TEST_F(DetectionOutputTest, DropsBoxesThatOverlapABetterOne) {
  // Boxes of 1 x 1 moved by 0, 0.25 and 0.75: overlaps 0.75 / 1.25 = 0.6, 0.25 / 1.75 and
  // 0.5 / 1.5 = 1 / 3 of the second and the third.
  const std::vector<float> boxes = {0, 0, 1, 1, 0.25f, 0, 1.25f, 1, 0.75f, 0, 1.75f, 1};
  FeedBoxes(boxes, {0.7f, 0.9f, 0.8f});
  RunOp(&ws_, Detections(Arg("nms_threshold", "f: 0.5")));
  EXPECT_EQ(Scores(), (std::vector<float>{0.9f, 0.8f}));
  RunOp(&ws_, Detections(Arg("nms_threshold", "f: 0.3")));
  EXPECT_EQ(Scores(), (std::vector<float>{0.9f}));
  RunOp(&ws_, Detections(Arg("nms_threshold", "f: 0.65")));
  EXPECT_EQ(Scores(), (std::vector<float>{0.9f, 0.8f, 0.7f}));
  // After the first box 0.65 becomes 0.585, which is less than 0.6.
  RunOp(&ws_, Detections(Arg("nms_threshold", "f: 0.65") + Arg("nms_eta", "f: 0.9")));
  EXPECT_EQ(Scores(), (std::vector<float>{0.9f, 0.8f}));
}

TEST_F(DetectionOutputTest, LimitsScoresAndNumbers) {
  const std::vector<float> apart = {0, 0, 1, 1, 2, 0, 3, 1, 4, 0, 5, 1, 6, 0, 7, 1};
  FeedBoxes(apart, {0.5f, 0.8f, 0.5f, 0.2f});
  RunOp(&ws_, Detections(Arg("confidence_threshold", "f: 0.5")));
  EXPECT_EQ(Scores(), (std::vector<float>{0.8f}));  // above, not equal
  RunOp(&ws_, Detections(Arg("confidence_threshold", "f: 0.1") + Arg("nms_top_k", "i: 3")));
  EXPECT_EQ(Scores(), (std::vector<float>{0.8f, 0.5f, 0.5f}));
  // Of equal scores the first prior is kept.
  RunOp(&ws_, Detections(Arg("keep_top_k", "i: 2")));
  ExpectTensor<float>(ws_, "Y", {1, 1, 2, 7}, {0, 1, 0.8f, 2, 0, 3, 1, 0, 1, 0.5f, 0, 0, 1, 1});
}

TEST_F(DetectionOutputTest, ClassesCompeteForTheNumberOfBoxes) {
  FeedBoxes({0, 0, 1, 1, 2, 0, 3, 1}, {0, 0});
  // Classes 0, 1 and 2 of two priors. No class is the background.
  Feed<float>(&ws_, "conf", {1, 6}, {0.3f, 0.1f, 0.6f, 0.2f, 0.5f, 0.4f});
  RunOp(&ws_, Detections(Arg("background_label", "i: -1") + Arg("keep_top_k", "i: 3"), 3));
  ExpectTensor<float>(ws_, "Y", {1, 1, 3, 7},
                      {0, 1, 0.5f, 2, 0, 3, 1, 0, 2, 0.6f, 0, 0, 1, 1, 0, 2, 0.4f, 2, 0, 3, 1});
  RunOp(&ws_, Detections(Arg("background_label", "i: 2") + Arg("keep_top_k", "i: 1"), 3));
  ExpectTensor<float>(ws_, "Y", {1, 1, 1, 7}, {0, 1, 0.5f, 2, 0, 3, 1});
}

TEST_F(DetectionOutputTest, ClassesMayHaveBoxesOfTheirOwn) {
  Feed<float>(&ws_, "prior", {1, 2, 4}, {0, 0, 1, 1, 1, 1, 1, 1});
  Feed<float>(&ws_, "loc", {1, 8}, {9, 9, 9, 9, 1, 2, 3, 4});
  Feed<float>(&ws_, "conf", {1, 2}, {0.5f, 0.5f});
  RunOp(&ws_, Detections(Arg("share_location", "i: 0")));
  ExpectTensor<float>(ws_, "Y", {1, 1, 1, 7}, {0, 1, 0.5f, 1, 2, 4, 5}, 1e-6);
}

TEST_F(DetectionOutputTest, ImagesFollowEachOther) {
  Feed<float>(&ws_, "prior", {1, 2, 4}, {0, 0, 1, 1, 1, 1, 1, 1});
  Feed<float>(&ws_, "loc", {2, 4}, {0, 0, 0, 0, 1, 1, 1, 1});
  Feed<float>(&ws_, "conf", {2, 2}, {0.5f, 0.5f, 0.3f, 0.7f});
  RunOp(&ws_, Detections(""));
  ExpectTensor<float>(ws_, "Y", {1, 1, 2, 7}, {0, 1, 0.5f, 0, 0, 1, 1, 1, 1, 0.7f, 1, 1, 2, 2});
  // Nothing is found: a row for each image.
  RunOp(&ws_, Detections(Arg("confidence_threshold", "f: 0.9")));
  ExpectTensor<float>(ws_, "Y", {1, 1, 2, 7},
                      {0, -1, -1, -1, -1, -1, -1, 1, -1, -1, -1, -1, -1, -1});
}

TEST_F(DetectionOutputTest, RejectsShapesThatDoNotFit) {
  FeedOne({0, 0, 0, 0});
  ExpectThrows([&] { RunOp(&ws_, Detections("", 3)); }, "input 1 (conf)");
  ExpectThrows([&] { RunOp(&ws_, Detections(Arg("share_location", "i: 0"))); }, "input 0 (loc)");
  ExpectThrows([&] { RunOp(&ws_, Detections(Arg("code_type", "s: \"X\""))); },
               "argument code_type is \"X\", want CORNER, CENTER_SIZE or CORNER_SIZE");
  Feed<float>(&ws_, "prior", {2, 4}, std::vector<float>(8));
  ExpectThrows([&] { RunOp(&ws_, Detections("")); }, "input 2 (prior)");
}

}  // namespace
}  // namespace caffe2rt::test::detection_output_test
