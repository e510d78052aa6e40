// A batch of images gives what its images give alone, and several regions what each of them gives: nothing of an image
// is left for the next one. All runs are on the CPU.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/operators/common/long_calls.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::detection_batches_test {
namespace {

using Dims = std::vector<int64_t>;
using Floats = std::vector<float>;

void RunCpu(Workspace* ws, const std::string& text) {
  OperatorDef op = OperatorsOf({text.c_str(), ""}).back();
  op.mutable_device_option()->set_device_type(PROTO_CPU);
  SCOPED_TRACE(text);
  ASSERT_TRUE(ws->RunOperatorOnce(op));
}

// Copies the rows [first, first + count) of a tensor of floats.
void FeedRows(const Workspace& from, const std::string& name, int64_t first, int64_t count,
              Workspace* to) {
  Dims dims = DimsOf(from, name);
  const Floats all = Fetch<float>(from, name);
  const int64_t row = dims[0] == 0 ? 0 : static_cast<int64_t>(all.size()) / dims[0];
  dims[0] = count;
  Feed<float>(to, name, dims,
              Floats(all.begin() + first * row, all.begin() + (first + count) * row));
}

template <class T>
void Append(const Workspace& from, const std::string& name, std::vector<T>* to) {
  const std::vector<T> values = Fetch<T>(from, name);
  to->insert(to->end(), values.begin(), values.end());
}

// Boxes x1, y1, x2, y2, or x, y, width, height, angle, that often overlap.
Floats Boxes(int64_t count, bool rotated, uint32_t seed) {
  const Floats numbers = RandomValues(count * 5, 0, 1, seed);
  Floats boxes;
  for (size_t i = 0; i < numbers.size(); i += 5) {
    const float x = 20 * numbers[i], y = 20 * numbers[i + 1], w = 5 + 10 * numbers[i + 2],
                h = 5 + 10 * numbers[i + 3];
    if (rotated) {
      boxes.insert(boxes.end(), {x, y, w, h, 180 * numbers[i + 4] - 90});
    } else {
      boxes.insert(boxes.end(), {x, y, x + w, y + h});
    }
  }
  return boxes;
}

TEST(BoxWithNMSLimitBatchTest, GivesWhatItsImagesGiveAlone) {
  const Dims images = {9, 0, 14, 5};
  const int64_t rows = 28, classes = 4;
  for (const std::string arguments :
       {"", "detections_per_im=7", "detections_per_im=0 nms=0.6", "soft_nms_enabled=1",
        "soft_nms_enabled=1 detections_per_im=5 nms=0.1",
        "soft_nms_enabled=1 soft_nms_method=gaussian", "rotated=1", "rotated=1 soft_nms_enabled=1",
        "cls_agnostic_bbox_reg=1 score_thresh=0.5", "input_boxes_include_bg_cls=0",
        "output_classes_include_bg_cls=0 legacy_plus_one=0"}) {
    SCOPED_TRACE(arguments);
    const bool rotated = arguments.starts_with("rotated");
    const int64_t dim = rotated ? 5 : 4;
    const int64_t boxes = arguments.starts_with("cls_agnostic")  ? 1
                          : arguments.starts_with("input_boxes") ? classes - 1
                                                                 : classes;
    Workspace ws;
    Feed<float>(&ws, "S", {rows, classes}, RandomValues(rows * classes, 0, 1, 3));
    Feed<float>(&ws, "B", {rows, boxes * dim}, Boxes(rows * boxes, rotated, 4));
    Feed<float>(&ws, "N", {4}, {9, 0, 14, 5});
    RunCpu(&ws, "BoxWithNMSLimit S B N -> s b c n k z " + arguments);
    Floats s, b, c, n;
    std::vector<int32_t> k, z;
    int64_t first = 0;
    for (const int64_t count : images) {
      Workspace one;
      FeedRows(ws, "S", first, count, &one);
      FeedRows(ws, "B", first, count, &one);
      RunCpu(&one, "BoxWithNMSLimit S B -> s b c n k z " + arguments);
      Append(one, "s", &s);
      Append(one, "b", &b);
      Append(one, "c", &c);
      Append(one, "n", &n);
      Append(one, "k", &k);
      Append(one, "z", &z);
      first += count;
    }
    const auto found = static_cast<int64_t>(s.size());
    EXPECT_GT(found, 0);
    ExpectTensor<float>(ws, "s", {found}, s);
    ExpectTensor<float>(ws, "b", {found, dim}, b);
    ExpectTensor<float>(ws, "c", {found}, c);
    ExpectTensor<float>(ws, "n", {4}, n);
    ExpectTensor<int32_t>(ws, "k", {found}, k);
    ExpectTensor<int32_t>(ws, "z", {4, classes}, z);
  }
}

TEST(BBoxTransformBatchTest, GivesWhatItsImagesGiveAlone) {
  const int64_t counts[] = {3, 0, 4};
  for (const bool rotated : {false, true}) {
    for (const std::string arguments :
         {"", "apply_scale=0", "legacy_plus_one=0 weights=10.,10.,5.,5."}) {
      SCOPED_TRACE(arguments);
      const std::string all = arguments + (rotated ? " rotated=1 clip_angle_thresh=90.0" : "");
      const int64_t dim = rotated ? 5 : 4;
      const Floats boxes = Boxes(7, rotated, 5);
      Floats rois;
      for (int64_t r = 0; r < 7; ++r) {
        rois.push_back(r < 3 ? 0.0f : 2.0f);
        rois.insert(rois.end(), boxes.begin() + r * dim, boxes.begin() + (r + 1) * dim);
      }
      Workspace ws;
      Feed<float>(&ws, "R", {7, dim + 1}, rois);
      Feed<float>(&ws, "D", {7, 2 * dim}, RandomValues(14 * dim, -1, 1, 6));
      Feed<float>(&ws, "I", {3, 3}, {20, 30, 2, 5, 5, 1, 33, 25, 0.5f});
      RunCpu(&ws, "BBoxTransform R D I -> Y S " + all);
      Floats y;
      int64_t first = 0;
      for (int64_t n = 0; n < 3; ++n) {
        Workspace one;
        Feed<float>(&one, "R", {counts[n], dim},
                    Floats(boxes.begin() + first * dim, boxes.begin() + (first + counts[n]) * dim));
        FeedRows(ws, "D", first, counts[n], &one);
        FeedRows(ws, "I", n, 1, &one);
        RunCpu(&one, "BBoxTransform R D I -> Y " + all);
        Append(one, "Y", &y);
        first += counts[n];
      }
      ExpectTensor<float>(ws, "Y", {7, 2 * dim}, y);
      ExpectTensor<float>(ws, "S", {3}, {3, 0, 4});
    }
  }
}

TEST(GenerateProposalsBatchTest, GivesWhatItsImagesGiveAlone) {
  for (const std::string arguments :
       {"", "pre_nms_topN=9 post_nms_topN=4", "nms_thresh=0.2 min_size=4.0", "legacy_plus_one=0"}) {
    SCOPED_TRACE(arguments);
    Workspace ws;
    Feed<float>(&ws, "S", {3, 2, 3, 4}, RandomValues(72, 0, 1, 7));
    Feed<float>(&ws, "D", {3, 8, 3, 4}, RandomValues(288, -1, 1, 8));
    Feed<float>(&ws, "I", {3, 3}, {40, 50, 1, 30, 20, 2, 48, 64, 0.5f});
    Feed<float>(&ws, "A", {2, 4}, {-8, -8, 8, 8, -4, -12, 4, 12});
    const std::string op = "GenerateProposals S D I A -> R P spatial_scale=0.0625 " + arguments;
    RunCpu(&ws, op);
    Floats rois, scores;
    for (int64_t n = 0; n < 3; ++n) {
      Workspace one;
      for (const char* name : {"S", "D", "I"}) FeedRows(ws, name, n, 1, &one);
      FeedRows(ws, "A", 0, 2, &one);
      RunCpu(&one, op);
      Floats own = Fetch<float>(one, "R");
      for (size_t i = 0; i < own.size(); i += 5) own[i] = static_cast<float>(n);
      rois.insert(rois.end(), own.begin(), own.end());
      Append(one, "P", &scores);
    }
    const auto found = static_cast<int64_t>(scores.size());
    EXPECT_GT(found, 3);
    ExpectTensor<float>(ws, "R", {found, 5}, rois);
    ExpectTensor<float>(ws, "P", {found}, scores);
  }
}

TEST(DetectionOutputBatchTest, GivesWhatItsImagesGiveAlone) {
  const int64_t priors = 6;
  for (const std::string arguments :
       {"", "share_location=0", "nms_top_k=3", "keep_top_k=4",
        "keep_top_k=4 confidence_threshold=0.25", "nms_eta=0.9 nms_threshold=0.6",
        "code_type=CENTER_SIZE background_label=-1"}) {
    SCOPED_TRACE(arguments);
    const int64_t locations = arguments == "share_location=0" ? 3 : 1;
    Workspace ws;
    Floats prior = Boxes(priors, false, 9);
    prior.resize(static_cast<size_t>(8 * priors), 0.1f);
    Feed<float>(&ws, "L", {3, priors * locations * 4},
                RandomValues(12 * priors * locations, -1, 1, 10));
    Feed<float>(&ws, "C", {3, priors * 3}, RandomValues(9 * priors, 0, 1, 11));
    Feed<float>(&ws, "P", {1, 2, priors * 4}, prior);
    const std::string op = "DetectionOutput L C P -> Y num_classes=3 " + arguments;
    RunCpu(&ws, op);
    Floats rows;
    for (int64_t n = 0; n < 3; ++n) {
      Workspace one;
      FeedRows(ws, "L", n, 1, &one);
      FeedRows(ws, "C", n, 1, &one);
      FeedRows(ws, "P", 0, 1, &one);
      RunCpu(&one, op);
      Floats own = Fetch<float>(one, "Y");
      for (size_t i = 0; i < own.size(); i += 7) own[i] = static_cast<float>(n);
      rows.insert(rows.end(), own.begin(), own.end());
    }
    ExpectTensor<float>(ws, "Y", {1, 1, static_cast<int64_t>(rows.size()) / 7, 7}, rows);
  }
}

struct RegionCall {
  const char* op;
  bool rotated;
  int64_t channels = 3;
};

// The regions are of images in any order; some are partly or wholly outside.
TEST(RegionBatchTest, GivesWhatEachRegionGivesAlone) {
  const RegionCall calls[] = {
      {"RoIAlign X R -> Y pooled_h=2 pooled_w=3 spatial_scale=0.5", false},
      {"RoIAlign X R -> Y pooled_h=2 pooled_w=3 sampling_ratio=2", false},
      {"RoIAlign X R -> Y pooled_h=3 pooled_w=2 aligned=1", false, 17},
      {"RoIAlignRotated X R -> Y pooled_h=2 pooled_w=3 spatial_scale=0.5", true},
      {"RoIAlignRotated X R -> Y pooled_h=2 pooled_w=2 sampling_ratio=2 aligned=1", true},
      {"RoIPool X R -> Y A pooled_h=2 pooled_w=3 spatial_scale=0.5", false},
      {"RoIPool X R -> Y pooled_h=3 pooled_w=2 is_test=1", false},
      {"PSRoIPool X R -> Y A output_dim=2 group_size=2 spatial_scale=0.5", false, 8},
  };
  const float images[] = {2, 0, 1, 2, 0, 0, 1};
  for (const RegionCall& call : calls) {
    SCOPED_TRACE(call.op);
    const int64_t dim = call.rotated ? 5 : 4, count = 7;
    const Floats boxes = Boxes(count, call.rotated, 12);
    Floats rois;
    for (int64_t r = 0; r < count; ++r) {
      rois.push_back(images[r]);
      rois.insert(rois.end(), boxes.begin() + r * dim, boxes.begin() + (r + 1) * dim);
    }
    Workspace ws;
    Feed<float>(&ws, "X", {3, call.channels, 11, 13},
                RandomValues(3 * call.channels * 143, -1, 1, 13));
    Feed<float>(&ws, "R", {count, dim + 1}, rois);
    RunCpu(&ws, call.op);
    Floats y;
    std::vector<int32_t> a;
    for (int64_t r = 0; r < count; ++r) {
      Workspace one;
      FeedRows(ws, "X", static_cast<int64_t>(images[r]), 1, &one);
      Floats roi = {0};
      roi.insert(roi.end(), boxes.begin() + r * dim, boxes.begin() + (r + 1) * dim);
      Feed<float>(&one, "R", {1, dim + 1}, roi);
      RunCpu(&one, call.op);
      Append(one, "Y", &y);
      if (one.GetBlob("A") != nullptr) Append(one, "A", &a);
    }
    ExpectTensor<float>(ws, "Y", DimsOf(ws, "Y"), y, 1e-5);
    if (!a.empty()) ExpectTensor<int32_t>(ws, "A", DimsOf(ws, "A"), a);
  }
}

// The gradient of the image is the sum over the regions, of which several lie upon each other.
TEST(RegionBatchTest, AddsUpTheGradientsOfTheRegions) {
  struct GradientCall {
    const char* forward;
    const char* backward;
    const char* arguments;
    bool rotated;
    int64_t channels;
  };
  const GradientCall calls[] = {
      {"RoIAlign X R -> Y ", "RoIAlignGradient X R D -> E ",
       "pooled_h=2 pooled_w=3 spatial_scale=0.5", false, 3},
      {"RoIAlign X R -> Y ", "RoIAlignGradient X R D -> E ",
       "pooled_h=3 pooled_w=2 sampling_ratio=2 aligned=1", false, 17},
      {"RoIAlignRotated X R -> Y ", "RoIAlignRotatedGradient X R D -> E ",
       "pooled_h=2 pooled_w=3 spatial_scale=0.5", true, 3},
      {"RoIPool X R -> Y A ", "RoIPoolGradient X R A D -> E ",
       "pooled_h=2 pooled_w=3 spatial_scale=0.5", false, 3},
      {"PSRoIPool X R -> Y A ", "PSRoIPoolGradient X R A D -> E ",
       "output_dim=2 group_size=2 spatial_scale=0.5", false, 8},
  };
  const float images[] = {2, 0, 2, 2, 0};
  for (const GradientCall& call : calls) {
    SCOPED_TRACE(call.backward + std::string(call.arguments));
    const int64_t dim = call.rotated ? 5 : 4, count = 5;
    const Floats boxes = Boxes(count, call.rotated, 14);
    Floats rois;
    for (int64_t r = 0; r < count; ++r) {
      rois.push_back(images[r]);
      rois.insert(rois.end(), boxes.begin() + r * dim, boxes.begin() + (r + 1) * dim);
    }
    Workspace ws;
    Feed<float>(&ws, "X", {3, call.channels, 11, 13},
                RandomValues(3 * call.channels * 143, -1, 1, 15));
    Feed<float>(&ws, "R", {count, dim + 1}, rois);
    RunCpu(&ws, call.forward + std::string(call.arguments));
    const Dims y = DimsOf(ws, "Y");
    const auto elements = static_cast<int64_t>(Fetch<float>(ws, "Y").size());
    Feed<float>(&ws, "D", y, RandomValues(elements, -1, 1, 16));
    RunCpu(&ws, call.backward + std::string(call.arguments));
    Floats sum(static_cast<size_t>(3 * call.channels * 143));
    for (int64_t r = 0; r < count; ++r) {
      Workspace one;
      FeedRows(ws, "X", 0, 3, &one);
      FeedRows(ws, "R", r, 1, &one);
      RunCpu(&one, call.forward + std::string(call.arguments));
      FeedRows(ws, "D", r, 1, &one);
      RunCpu(&one, call.backward + std::string(call.arguments));
      const Floats own = Fetch<float>(one, "E");
      ASSERT_EQ(own.size(), sum.size());
      for (size_t i = 0; i < sum.size(); ++i) sum[i] += own[i];
    }
    ExpectTensor<float>(ws, "E", {3, call.channels, 11, 13}, sum, 1e-5);
    // Nothing flows to the image without regions.
    const size_t image = sum.size() / 3;
    const Floats all = Fetch<float>(ws, "E");
    for (size_t i = image; i < 2 * image; ++i) ASSERT_EQ(all[i], 0) << i;
  }
}

}  // namespace
}  // namespace caffe2rt::test::detection_batches_test
