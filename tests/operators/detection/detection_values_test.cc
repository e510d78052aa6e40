// Detections with boxes that are not square, variances and scores that all differ, against values
// by hand and a plain search for the best box.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "operators/detection/box_suppression.h"
#include "tests/operators/common/long_calls.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::detection_values_test {
namespace {

using Floats = std::vector<float>;

void RunShort(Workspace* ws, const std::string& text) {
  SCOPED_TRACE(text);
  RunOp(ws, OperatorsOf({text.c_str(), ""}).back());
}

// Two priors, far apart and not square, of which each number has its own variance.
void FeedTwoPriors(Workspace* ws, const Floats& scores) {
  Feed<float>(ws, "prior", {1, 2, 8},
              {0, 0, 2, 4, 100, 10, 104, 12, 0.5f, 0.25f, 0.125f, 2, 1, 0.75f, 0.5f, 0.0625f});
  Feed<float>(ws, "loc", {1, 8}, {1, 2, 3, 4, -1, -2, -3, -4});
  Feed<float>(ws, "conf", {1, 4}, scores);
}

TEST(DetectionOutputValuesTest, EachNumberOfEachPriorHasItsVariance) {
  Workspace ws;
  FeedTwoPriors(&ws, {0, 0.9f, 0, 0.8f});
  RunShort(&ws, "DetectionOutput loc conf prior -> Y num_classes=2");
  ExpectTensor<float>(ws, "Y", {1, 1, 2, 7},
                      {0, 1, 0.9f, 0.5f, 0.5f, 2.375f, 12,  //
                       0, 1, 0.8f, 99, 8.5f, 102.5f, 11.75f});
  RunShort(&ws, "DetectionOutput loc conf prior -> Y num_classes=2 code_type=CORNER_SIZE");
  // Widths 2 and 4, heights 4 and 2.
  ExpectTensor<float>(ws, "Y", {1, 1, 2, 7},
                      {0, 1, 0.9f, 1, 2, 2.75f, 36,  //
                       0, 1, 0.8f, 96, 7, 98, 11.5f});
  RunShort(&ws, "DetectionOutput loc conf prior -> Y num_classes=2 code_type=CENTER_SIZE");
  // Centres (1, 2) and (102, 11) move by 0.5 * 2, 0.5 * 4 and by -4, -1.5 * 2.
  const float w = std::exp(0.375f), h = 2 * std::exp(8.0f), w2 = 2 * std::exp(-1.5f),
              h2 = std::exp(-0.25f);
  ExpectTensor<float>(ws, "Y", {1, 1, 2, 7},
                      {0, 1, 0.9f, 2 - w, 4 - h, 2 + w, 4 + h,  //
                       0, 1, 0.8f, 98 - w2, 8 - h2, 98 + w2, 8 + h2},
                      1e-6);
}

TEST(DetectionOutputValuesTest, TheThresholdShrinksAfterEachKeptBoxUntilItIsAHalf) {
  // A box moved by d overlaps the one before it by (1 - d) / (1 + d).
  const auto scores = [](const std::string& arguments, float shift) {
    Workspace ws;
    Floats prior = {0, 0, 1, 1, 10, 0, 11, 1, shift, 0, 1 + shift, 1};
    prior.resize(24);
    Feed<float>(&ws, "P", {1, 2, 12}, prior);
    Feed<float>(&ws, "L", {1, 12}, Floats(12));
    Feed<float>(&ws, "C", {1, 6}, {0, 0.9f, 0, 0.8f, 0, 0.7f});
    RunShort(&ws, "DetectionOutput L C P -> Y num_classes=2 " + arguments);
    return Fetch<float>(ws, "Y").size() / 7;
  };
  // 0.8 becomes 0.72 and 0.648; the third box overlaps the first one by 0.684.
  EXPECT_EQ(scores("nms_threshold=0.8 nms_eta=0.9", 0.1875f), 2u);
  EXPECT_EQ(scores("nms_threshold=0.8 nms_eta=0.95", 0.1875f), 3u);
  // 0.6 becomes 0.3 and stays; the overlap is 0.25, or 1 / 3.
  EXPECT_EQ(scores("nms_threshold=0.6 nms_eta=0.5", 0.6f), 3u);
  EXPECT_EQ(scores("nms_threshold=0.6 nms_eta=0.5", 0.5f), 2u);
}

TEST(DetectionOutputValuesTest, NamesInputsThatDoNotFit) {
  Workspace ws;
  const auto expect = [&ws](const std::string& arguments, const std::string& part) {
    ExpectThrows([&] { RunShort(&ws, "DetectionOutput loc conf prior -> Y " + arguments); }, part);
  };
  FeedTwoPriors(&ws, {0, 0.9f, 0, 0.8f});
  RunShort(&ws, "DetectionOutput loc conf prior -> Y num_classes=2");
  expect("num_classes=0", "argument num_classes is 0, want at least 1");
  expect("num_classes=2 nms_eta=0.0", "argument nms_eta is 0, want 0 to 1");
  expect("num_classes=2 nms_eta=1.5", "argument nms_eta is 1.5, want 0 to 1");
  Feed<float>(&ws, "prior", {1, 1, 8}, Floats(8));
  expect("num_classes=2", "input 2 (prior) has shape [1, 1, 8], want [1, 2, P * 4]");
  Feed<float>(&ws, "prior", {1, 2, 6}, Floats(12));
  expect("num_classes=2", "input 2 (prior) has shape [1, 2, 6], want [1, 2, P * 4]");
  FeedTwoPriors(&ws, {0, 0.9f, 0, 0.8f});
  Feed<float>(&ws, "conf", {2, 2}, Floats(4));
  expect("num_classes=2", "inputs 0 (loc) and 1 (conf) have shapes [1, 8] and [2, 2]");
}

// One search for the best box after the other, for boxes that are not rotated.
struct PlainLimit {
  const char* arguments;
  float threshold = 0.05f, nms = 0.3f;
  size_t most = 100;
  bool soft = false, gaussian = false;
  float sigma = 0.5f, least = 0.001f;
  bool agnostic = false, in_background = true, out_background = true;
  double one = 1;
};

double PlainOverlap(const float* a, const float* b, double one) {
  const auto area = [one](double w, double h) {
    return std::max(w + one, 0.0) * std::max(h + one, 0.0);
  };
  const double common = area(double{std::min(a[2], b[2])} - std::max(a[0], b[0]),
                             double{std::min(a[3], b[3])} - std::max(a[1], b[1]));
  return common / (area(double{a[2]} - a[0], double{a[3]} - a[1]) +
                   area(double{b[2]} - b[0], double{b[3]} - b[1]) - common);
}

struct Found {
  int c;
  float score;
  size_t row;
};

std::vector<Found> PlainDetections(const PlainLimit& limit, const Floats& scores,
                                   const Floats& boxes, size_t rows, size_t classes) {
  const size_t first = limit.in_background ? 0 : 1, columns = boxes.size() / rows;
  std::vector<Found> all;
  for (size_t c = 1; c < classes; ++c) {
    const auto box = [&](size_t row) {
      return boxes.data() + row * columns + (limit.agnostic ? 0 : (c - first) * 4);
    };
    std::vector<Found> left;
    for (size_t r = 0; r < rows; ++r) {
      const float score = scores[r * classes + c - first];
      if (score > limit.threshold) left.push_back({static_cast<int>(c), score, r});
    }
    while (!left.empty()) {
      const auto best = std::max_element(
          left.begin(), left.end(), [](const auto& a, const auto& b) { return a.score < b.score; });
      const Found found = *best;
      left.erase(best);
      all.push_back(found);
      for (Found& other : left) {
        const double overlap = PlainOverlap(box(found.row), box(other.row), limit.one);
        double factor = overlap > limit.nms ? (limit.soft ? 1 - overlap : 0) : 1;
        if (limit.soft && limit.gaussian) factor = std::exp(-overlap * overlap / limit.sigma);
        other.score = static_cast<float>(other.score * factor);
      }
      const float least = limit.soft ? limit.least : 1e-30f;
      std::erase_if(left, [least](const Found& other) { return other.score < least; });
    }
  }
  if (limit.most == 0 || all.size() <= limit.most) return all;
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.score > b.score; });
  all.resize(limit.most);
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.c < b.c; });
  return all;
}

const PlainLimit kPlainLimits[] = {
    {.arguments = ""},
    {.arguments = "legacy_plus_one=0", .one = 0},
    {.arguments = "nms=0.5 score_thresh=0.4", .threshold = 0.4f, .nms = 0.5f},
    {.arguments = "detections_per_im=7", .most = 7},
    {.arguments = "detections_per_im=0 nms=1.0", .nms = 1, .most = 0},
    {.arguments = "cls_agnostic_bbox_reg=1", .agnostic = true},
    {.arguments = "input_boxes_include_bg_cls=0 detections_per_im=9",
     .most = 9,
     .in_background = false},
    {.arguments = "output_classes_include_bg_cls=0", .out_background = false},
    {.arguments = "soft_nms_enabled=1", .soft = true},
    {.arguments = "soft_nms_enabled=1 legacy_plus_one=0 nms=0.1 score_thresh=0.5",
     .threshold = 0.5f,
     .nms = 0.1f,
     .soft = true,
     .one = 0},
    {.arguments = "soft_nms_enabled=1 soft_nms_method=gaussian soft_nms_sigma=0.25",
     .soft = true,
     .gaussian = true,
     .sigma = 0.25f},
    {.arguments = "soft_nms_enabled=1 soft_nms_min_score_thres=0.3 soft_nms_method=gaussian",
     .soft = true,
     .gaussian = true,
     .least = 0.3f},
    {.arguments = "soft_nms_enabled=1 soft_nms_min_score_thres=0.25 score_thresh=0.4 "
                  "detections_per_im=5 input_boxes_include_bg_cls=0",
     .threshold = 0.4f,
     .most = 5,
     .soft = true,
     .least = 0.25f,
     .in_background = false},
};

TEST(BoxWithNmsLimitValuesTest, AreThoseOfAPlainSearch) {
  constexpr size_t kRows = 20, kClasses = 4;
  for (const PlainLimit& limit : kPlainLimits) {
    SCOPED_TRACE(limit.arguments);
    const size_t boxes = limit.agnostic ? 1 : kClasses - (limit.in_background ? 0 : 1);
    const Floats scores = RandomValues(kRows * kClasses, 0, 1, 31);
    Floats box = RandomValues(static_cast<int64_t>(kRows * boxes * 4), 0, 12, 32);
    for (size_t i = 0; i < box.size(); i += 4) {
      box[i + 2] = box[i] + 2 + box[i + 2] / 2;
      box[i + 3] = box[i + 1] + 1 + box[i + 3];
    }
    Workspace ws;
    Feed<float>(&ws, "S", {kRows, kClasses}, scores);
    Feed<float>(&ws, "B", {kRows, static_cast<int64_t>(boxes * 4)}, box);
    RunShort(&ws, std::string("BoxWithNMSLimit S B -> s b c n k z ") + limit.arguments);
    Floats s, b, c;
    std::vector<int32_t> k, z(kClasses);
    for (const Found& found : PlainDetections(limit, scores, box, kRows, kClasses)) {
      const auto number = static_cast<size_t>(found.c);
      s.push_back(found.score);
      c.push_back(static_cast<float>(found.c - (limit.out_background ? 0 : 1)));
      k.push_back(static_cast<int32_t>(found.row));
      ++z[number];
      const size_t column = limit.agnostic ? 0 : number - (limit.in_background ? 0 : 1);
      for (size_t i = 0; i < 4; ++i) b.push_back(box[(found.row * boxes + column) * 4 + i]);
    }
    const auto count = static_cast<int64_t>(s.size());
    ExpectTensor<float>(ws, "s", {count}, s, 1e-5);
    ExpectTensor<float>(ws, "b", {count, 4}, b);
    ExpectTensor<float>(ws, "c", {count}, c);
    ExpectTensor<float>(ws, "n", {1}, {static_cast<float>(count)});
    ExpectTensor<int32_t>(ws, "k", {count}, k);
    ExpectTensor<int32_t>(ws, "z", {1, kClasses}, z);
  }
}

TEST(BoxWithNmsLimitValuesTest, RotatedBoxesMayBelongToAllClasses) {
  Workspace ws;
  Feed<float>(&ws, "S", {2, 3}, {0, 0.9f, 0.2f, 0, 0.1f, 0.8f});
  Feed<float>(&ws, "B", {2, 5}, {5, 5, 8, 2, 10, 50, 50, 4, 6, 20});
  RunShort(&ws, "BoxWithNMSLimit S B -> s b c rotated=1 cls_agnostic_bbox_reg=1");
  ExpectTensor<float>(ws, "s", {4}, {0.9f, 0.1f, 0.8f, 0.2f});
  ExpectTensor<float>(ws, "b", {4, 5}, {5,  5,  8, 2, 10, 50, 50, 4, 6, 20,  //
                                        50, 50, 4, 6, 20, 5,  5,  8, 2, 10});
}

TEST(BoxWithNmsLimitValuesTest, SplitsAreAddedBeforeFractionsAreDropped) {
  Workspace ws;
  Feed<float>(&ws, "S", {3, 2}, {0, 0.5f, 0, 0.6f, 0, 0.7f});
  Feed<float>(&ws, "B", {3, 8}, Floats(24));
  Feed<float>(&ws, "N", {2}, {1.5f, 1.5f});
  RunShort(&ws, "BoxWithNMSLimit S B N -> s b c n");
  ExpectTensor<float>(ws, "s", {2}, {0.5f, 0.6f});
  ExpectTensor<float>(ws, "n", {2}, {1, 1});
}

TEST(BoxWithNmsLimitValuesTest, ABoxWithoutAScoreIsNotSelected) {
  Workspace ws;
  Feed<float>(&ws, "S", {2, 2}, {0, std::numeric_limits<float>::quiet_NaN(), 0, 0.5f});
  Feed<float>(&ws, "B", {2, 8}, {0, 0, 0, 0, 50, 50, 60, 60, 0, 0, 0, 0, 1, 2, 3, 4});
  RunShort(&ws, "BoxWithNMSLimit S B -> s b c");
  ExpectTensor<float>(ws, "b", {1, 4}, {1, 2, 3, 4});
}

TEST(FpnProposalsValuesTest, LevelsAreThoseOfTheArea) {
  struct Row {
    const char* arguments;
    Floats box;
    int32_t level;  // the first one is 0
  };
  const float below = std::nextafter(224.0f, 0.0f);
  const Row rows[] = {
      // Only one of the sides is 20 with one pixel more.
      {"roi_canonical_scale=20 legacy_plus_one=0", {0, 0, 20, 19.5f}, 1},
      {"roi_canonical_scale=20 legacy_plus_one=0", {0, 0, 19.5f, 20}, 1},
      {"roi_canonical_scale=20", {0, 0, 20, 19.5f}, 2},
      {"roi_canonical_scale=20", {0, 0, 19.5f, 20}, 2},
      // Without an area, and nearly of the canonical one.
      {"legacy_plus_one=0", {5, 7, 5, 30}, 0},
      {"legacy_plus_one=0", {0, 0, below, 224}, 2},
      {"legacy_plus_one=0", {0, 0, 223.9f, 224}, 1},
      {"legacy_plus_one=0", {10, 20, 458, 468}, 3},
      {"legacy_plus_one=0", {0, 0, 9000, 9000}, 3},
  };
  for (const Row& row : rows) {
    Workspace ws;
    Feed<float>(&ws, "R", {1, 4}, row.box);
    RunShort(&ws, std::string("DistributeFpnProposals R -> L0 L1 L2 L3 P ") + row.arguments);
    for (int32_t level = 0; level < 4; ++level) {
      EXPECT_EQ(DimsOf(ws, "L" + std::to_string(level)),
                (std::vector<int64_t>{level == row.level ? 1 : 0, 5}))
          << row.arguments << " " << testing::PrintToString(row.box);
    }
  }
}

TEST(FpnProposalsValuesTest, ScoresAreARowForEachProposal) {
  Workspace ws;
  Feed<float>(&ws, "R", {2, 5}, {0, 1, 2, 3, 4, 0, 5, 6, 7, 8});
  const std::string call = "CollectRpnProposals R S -> Y rpn_min_level=3 rpn_max_level=3";
  Feed<float>(&ws, "S", {2, 1}, {1, 2});
  RunShort(&ws, call);
  ExpectTensor<float>(ws, "Y", {2, 5}, {0, 5, 6, 7, 8, 0, 1, 2, 3, 4});
  Feed<float>(&ws, "S", {1, 2}, {1, 2});
  ExpectThrows([&] { RunShort(&ws, call); }, "input 1 (scores) has shape [1, 2], want [2]");
}

TEST(ScoreOrderValuesTest, ZerosOfBothSignsAreEqual) {
  ScoreOrder order;
  const float scores[] = {-0.0f, 0.0f, 1, -0.0f, 0.0f, -1};
  EXPECT_EQ(order.Sort(scores, 6, 0, true), (std::vector<int32_t>{2, 0, 1, 3, 4, 5}));
}

// As in Caffe2, the best box and the first one change places.
TEST(BoxSuppressorValuesTest, TheFirstPendingBoxTakesThePlaceOfTheBest) {
  BoxSuppressor suppressor;
  Floats boxes, scores = {0.5f, 0.5f, 0.9f, 0.5f};
  for (const float x : {0.0f, 20.0f, 40.0f, 60.0f}) boxes.insert(boxes.end(), {x, 0, x + 9, 9});
  const int32_t rows[] = {0, 1, 2, 3};
  EXPECT_EQ(suppressor.SelectSoftly({false, 1, 0.5f}, {SoftMethod::kLinear, 0.5f, 0.5f},
                                    boxes.data(), rows, 4, scores.data()),
            (std::vector<int32_t>{2, 1, 0, 3}));
}

TEST(BoxSuppressorValuesTest, ARotatedBoxWithNaNIsDropped) {
  BoxSuppressor suppressor;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float boxes[] = {0, 0, 9, 9, 0, 50, nan, 9, 9, 0, 90, 0, 9, 9, 0};
  const int32_t order[] = {0, 1, 2};
  EXPECT_EQ(suppressor.Select({true, 1, 0.5f}, boxes, order, 3, 0), (std::vector<int32_t>{0, 2}));
}

// As in Caffe2, equal scores are where the standard library's partial sort leaves them.
TEST(GenerateProposalsValuesTest, EqualScoresAreSortedAsByThePartialSort) {
  Workspace ws;
  Feed<float>(&ws, "S", {1, 1, 4, 5}, Floats(20, 0.5f));
  Feed<float>(&ws, "D", {1, 4, 4, 5}, Floats(80));
  Feed<float>(&ws, "I", {1, 3}, {500, 500, 1});
  Feed<float>(&ws, "A", {1, 4}, {0, 0, 19, 29});
  RunShort(&ws, "GenerateProposals S D I A -> R P pre_nms_topN=7 nms_thresh=1.0");
  std::vector<int32_t> order(20);
  std::iota(order.begin(), order.end(), 0);
  std::partial_sort(order.begin(), order.begin() + 7, order.end(),
                    [](int32_t, int32_t) { return false; });
  Floats rois;
  for (size_t i = 0; i < 7; ++i) {
    const float x = static_cast<float>(order[i] % 5 * 16),
                y = static_cast<float>(order[i] / 5 * 16);
    rois.insert(rois.end(), {0, x, y, x + 19, y + 29});
  }
  ExpectTensor<float>(ws, "R", {7, 5}, rois, 1e-5);
}

TEST(BBoxTransformValuesTest, BoxesEndAtTheBordersOfTheImage) {
  struct Row {
    const char* arguments;
    Floats info, box, want;
  };
  const Floats image = {100, 150, 1};
  const Row rows[] = {
      {"", image, {-5, -6, 200, 300}, {0, 0, 149, 99}},
      {"legacy_plus_one=0", image, {-5, -6, 200, 300}, {0, 0, 150, 100}},
      {"legacy_plus_one=0", image, {160, 120, 200, 300}, {150, 100, 150, 100}},
      // Sizes are divided by the scale and rounded: 75.5 and 50.5, 75.25 and 50.25.
      {"legacy_plus_one=0 apply_scale=0", {101, 151, 2}, {0, 0, 900, 900}, {0, 0, 76, 51}},
      {"legacy_plus_one=0 apply_scale=0", {201, 301, 4}, {0, 0, 900, 900}, {0, 0, 75, 50}},
      // Both halves of a rotated box are clipped.
      {"rotated=1", image, {148, 97, 10, 20, 0.5f}, {146.25f, 93.25f, 6.5f, 12.5f, 0.5f}},
      {"rotated=1 legacy_plus_one=0", image, {148, 97, 10, 20, -1}, {146.5f, 93.5f, 7, 13, -1}},
      {"rotated=1 legacy_plus_one=0", image, {2, 3, 10, 20, 0}, {3.5f, 6.5f, 7, 13, 0}},
      {"rotated=1 clip_angle_thresh=0.0", image, {148, 97, 11, 21, 0}, {146, 93, 7, 13, 0}},
  };
  for (const Row& row : rows) {
    const auto dim = static_cast<int64_t>(row.box.size());
    Workspace ws;
    Feed<float>(&ws, "R", {1, dim}, row.box);
    Feed<float>(&ws, "D", {1, dim}, Floats(row.box.size()));
    Feed<float>(&ws, "I", {1, 3}, row.info);
    SCOPED_TRACE(row.arguments);
    RunShort(&ws, std::string("BBoxTransform R D I -> Y ") + row.arguments);
    ExpectTensor<float>(ws, "Y", {1, dim}, row.want, 1e-5);
  }
}

TEST(BBoxTransformValuesTest, BoundsOfTheAngleAreAPeriodApart) {
  Workspace ws;
  Feed<float>(&ws, "R", {1, 5}, {5, 5, 2, 4, 190});
  Feed<float>(&ws, "D", {1, 5}, Floats(5));
  Feed<float>(&ws, "I", {1, 3}, {50, 50, 1});
  const auto run = [&ws](const std::string& bounds) {
    RunShort(&ws, "BBoxTransform R D I -> Y rotated=1 " + bounds);
    return Fetch<float>(ws, "Y")[4];
  };
  EXPECT_FLOAT_EQ(run("angle_bound_lo=0 angle_bound_hi=180"), 10);
  EXPECT_FLOAT_EQ(run("angle_bound_lo=-180 angle_bound_hi=180"), -170);
  EXPECT_FLOAT_EQ(run("angle_bound_lo=200 angle_bound_hi=560"), 550);
  for (const char* const bounds :
       {"angle_bound_lo=90 angle_bound_hi=-90", "angle_bound_lo=90 angle_bound_hi=90",
        "angle_bound_lo=0 angle_bound_hi=90"}) {
    ExpectThrows([&] { run(bounds); }, "want a difference that is a positive multiple of 180");
  }
}

TEST(GenerateProposalsValuesTest, TheLeastSizeIsOfBothSidesAndPlusOne) {
  Workspace ws;
  Feed<float>(&ws, "S", {1, 3, 1, 1}, {0.9f, 0.8f, 0.7f});
  Feed<float>(&ws, "D", {1, 12, 1, 1}, Floats(12));
  Feed<float>(&ws, "I", {1, 3}, {500, 500, 1});
  Feed<float>(&ws, "A", {3, 4}, {0, 0, 15.5f, 30, 100, 100, 130, 115.5f, 200, 200, 216, 216});
  RunShort(&ws, "GenerateProposals S D I A -> R P");
  ExpectTensor<float>(ws, "P", {3}, {0.9f, 0.8f, 0.7f});
  RunShort(&ws, "GenerateProposals S D I A -> R P legacy_plus_one=0");
  ExpectTensor<float>(ws, "P", {1}, {0.7f});
}

}  // namespace
}  // namespace caffe2rt::test::detection_values_test
