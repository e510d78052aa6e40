// ONNXRoiAlign, NonMaxSuppression and DetectionOutput against their definitions written down sample by sample, on
// images that are not smooth and boxes of several classes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/operators/common/call_tables.h"
#include "tests/operators/common/long_calls.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::regions_by_definition_test {
namespace {

using Floats = std::vector<float>;

void RunOnCpu(Workspace* ws, const std::string& text) {
  OperatorDef op = OperatorsOf({text.c_str(), ""}).back();
  op.mutable_device_option()->set_device_type(PROTO_CPU);
  ASSERT_TRUE(ws->RunOperatorOnce(op)) << text;
}

// --- ONNXRoiAlign ---

struct AlignRow {
  bool half_pixel, max;
  int samples;  // 0: as many as the bin has pixels, rounded up
  double scale;
};

// The four products of a pixel and its weight at a place of an image of 5 x 6; none outside.
std::vector<double> ProductsAt(const float* x, double row, double column) {
  constexpr int kRows = 5, kColumns = 6;
  if (row < -1 || row > kRows || column < -1 || column > kColumns) return {};
  const double r = std::clamp<double>(row, 0, kRows - 1),
               c = std::clamp<double>(column, 0, kColumns - 1);
  const int top = static_cast<int>(r), left = static_cast<int>(c);
  const int bottom = std::min(top + 1, kRows - 1), right = std::min(left + 1, kColumns - 1);
  const double down = r - top, across = c - left;
  return {(1 - down) * (1 - across) * x[top * kColumns + left],
          (1 - down) * across * x[top * kColumns + right],
          down * (1 - across) * x[bottom * kColumns + left],
          down * across * x[bottom * kColumns + right]};
}

double BinOf(const AlignRow& row, const float* x, const float* roi, int bin_row, int bin_column) {
  constexpr int kBinRows = 3, kBinColumns = 2;
  const double offset = row.half_pixel ? 0.5 : 0;
  const double left = roi[0] * row.scale - offset, top = roi[1] * row.scale - offset;
  double width = roi[2] * row.scale - offset - left, height = roi[3] * row.scale - offset - top;
  if (!row.half_pixel) width = std::max(width, 1.0), height = std::max(height, 1.0);
  const double bin_w = width / kBinColumns, bin_h = height / kBinRows;
  const int across = row.samples > 0 ? row.samples : static_cast<int>(std::ceil(bin_w));
  const int down = row.samples > 0 ? row.samples : static_cast<int>(std::ceil(bin_h));
  double sum = 0, largest = 0;
  for (int i = 0; i < down; ++i) {
    for (int j = 0; j < across; ++j) {
      const std::vector<double> products =
          ProductsAt(x, top + bin_row * bin_h + (i + 0.5) * bin_h / down,
                     left + bin_column * bin_w + (j + 0.5) * bin_w / across);
      for (const double product : products) sum += product;
      const double most =
          products.empty() ? 0 : *std::max_element(products.begin(), products.end());
      largest = i == 0 && j == 0 ? most : std::max(largest, most);
    }
  }
  return row.max ? largest : sum / std::max(1, down * across);
}

// Regions with bins of whole and of other sizes, less than a pixel, outside, and in the wrong order.
const Floats kRegions = {0,     0,    4,     6,    1,    0.75f, 5,     4.75f, 2,  2,  2.25f, 2.5f,
                         1.5f,  3,    1.5f,  3,    -3,   -2,    9,     8,     9,  9,  12,    12,
                         4.5f,  4,    1,     1.5f, 0.5f, 0.5f,  2.5f,  3.5f,  -2, -2, -1.5f, -1.5f,
                         2.75f, 1.5f, 6.75f, 4.5f, 0,    0,     10,    12};

TEST(RegionsByDefinitionTest, AlignedRegionsOfRoughImages) {
  const Floats x = RandomValues(2 * 2 * 30, -3, 3, 21);
  const auto regions = static_cast<int64_t>(kRegions.size() / 4);
  std::vector<int64_t> images;
  for (int64_t r = 0; r < regions; ++r) images.push_back(r % 2);
  for (const bool half_pixel : {true, false}) {
    for (const bool max : {false, true}) {
      for (const int samples : {0, 1, 3}) {
        for (const double scale : {1.0, 0.5}) {
          const AlignRow row = {half_pixel, max, samples, scale};
          const std::string op = MakeString(
              "ONNXRoiAlign X R I -> Y output_height=3 output_width=2 sampling_ratio=", samples,
              " spatial_scale=", scale == 1 ? "1.0" : "0.5", max ? " mode=max" : " mode=avg",
              half_pixel ? "" : " coordinate_transformation_mode=output_half_pixel");
          SCOPED_TRACE(op);
          Workspace ws;
          Feed<float>(&ws, "X", {2, 2, 5, 6}, x);
          Feed<float>(&ws, "R", {regions, 4}, kRegions);
          Feed<int64_t>(&ws, "I", {regions}, images);
          RunOnCpu(&ws, op);
          Floats want;
          for (int64_t r = 0; r < regions; ++r) {
            for (int c = 0; c < 2; ++c) {
              for (int bin = 0; bin < 6; ++bin) {
                want.push_back(static_cast<float>(BinOf(row, x.data() + (r % 2 * 2 + c) * 30,
                                                        kRegions.data() + r * 4, bin / 2, bin % 2)));
              }
            }
          }
          ExpectTensor<float>(ws, "Y", {regions, 2, 3, 2}, want, 1e-4);
        }
      }
    }
  }
}

// --- NonMaxSuppression ---

struct SuppressedRow {
  bool center;
  int64_t most;
  float overlap, score;
};

double ShareOfUnion(const float* a, const float* b, bool center) {
  double both = 1, first = 1, second = 1;
  for (int axis = 0; axis < 2; ++axis) {
    double low[2], high[2];
    const float* const boxes[] = {a, b};
    for (int i = 0; i < 2; ++i) {
      if (center) {
        low[i] = boxes[i][1 - axis] - boxes[i][3 - axis] / 2;
        high[i] = boxes[i][1 - axis] + boxes[i][3 - axis] / 2;
      } else {
        low[i] = std::min(boxes[i][axis], boxes[i][axis + 2]);
        high[i] = std::max(boxes[i][axis], boxes[i][axis + 2]);
      }
    }
    both *= std::max(0.0, std::min(high[0], high[1]) - std::max(low[0], low[1]));
    first *= high[0] - low[0];
    second *= high[1] - low[1];
  }
  return both > 0 ? both / (first + second - both) : 0;
}

TEST(RegionsByDefinitionTest, BoxesThatOverlapBetterOnesAreSuppressed) {
  constexpr int64_t kImages = 2, kClasses = 3, kBoxes = 14;
  const Floats numbers = RandomValues(kImages * kBoxes * 4, 0, 6, 22);
  const Floats scores = RandomValues(kImages * kClasses * kBoxes, -1, 1, 23);
  for (const SuppressedRow& row : {SuppressedRow{false, 20, 0.2f, -2}, {false, 3, 0.2f, -2},
                                   {false, 20, 0, -2}, {false, 20, 0.5f, 0.25f}, {true, 20, 0.2f, -2},
                                   {true, 2, 0.4f, 0}, {true, 20, 1, -0.5f}}) {
    SCOPED_TRACE(MakeString(row.center, " ", row.most, " ", row.overlap, " ", row.score));
    std::vector<int64_t> want;
    for (int64_t i = 0; i < kImages; ++i) {
      for (int64_t c = 0; c < kClasses; ++c) {
        const float* const score = scores.data() + (i * kClasses + c) * kBoxes;
        const auto box = [&](int64_t b) { return numbers.data() + (i * kBoxes + b) * 4; };
        std::vector<int64_t> left, kept;
        for (int64_t b = 0; b < kBoxes; ++b) {
          if (score[b] > row.score) left.push_back(b);
        }
        std::sort(left.begin(), left.end(), [&](auto a, auto b) { return score[a] > score[b]; });
        for (const int64_t b : left) {
          if (static_cast<int64_t>(kept.size()) == row.most) break;
          const bool keeps = std::all_of(kept.begin(), kept.end(), [&](int64_t better) {
            return ShareOfUnion(box(better), box(b), row.center) <= row.overlap;
          });
          if (!keeps) continue;
          kept.push_back(b);
          want.insert(want.end(), {i, c, b});
        }
      }
    }
    Workspace ws;
    Feed<float>(&ws, "B", {kImages, kBoxes, 4}, numbers);
    Feed<float>(&ws, "S", {kImages, kClasses, kBoxes}, scores);
    Feed<int64_t>(&ws, "M", {1}, {row.most});
    Feed<float>(&ws, "O", {1}, {row.overlap});
    Feed<float>(&ws, "T", {1}, {row.score});
    RunOnCpu(&ws, MakeString("NonMaxSuppression B S M O T -> Y center_point_box=", row.center));
    ExpectTensor<int64_t>(ws, "Y", {static_cast<int64_t>(want.size() / 3), 3}, want);
  }
}

// --- DetectionOutput ---

// Each of three classes has its own deltas of each of two priors.
TEST(RegionsByDefinitionTest, EveryClassMayHaveItsOwnBoxes) {
  const std::string inputs =
      "L f 1,24 = 9,9,9,9,1,2,3,4,-1,-2,-3,-4,8,8,8,8,5,6,7,8,-5,-6,-7,-8; "
      "C f 1,6 = 9,0.75,0.5,9,0.25,0.625; P f 1,2,8 = 0,0,10,10,50,50,60,60,1,1,1,1,1,1,1,1";
  ExpectResults({
      {"DetectionOutput L C P -> Y num_classes=3 share_location=0", inputs,
       "Y f 1,1,4,7 = 0,1,0.75,1,2,13,14,0,1,0.25,55,56,67,68,"
       "0,2,0.625,45,44,53,52,0,2,0.5,-1,-2,7,6"},
      {"DetectionOutput L C P -> Y num_classes=3 share_location=0 background_label=1", inputs,
       "Y f 1,1,4,7 = 0,0,9,9,9,19,19,0,0,9,58,58,68,68,"
       "0,2,0.625,45,44,53,52,0,2,0.5,-1,-2,7,6"},
      {"DetectionOutput L C P -> Y num_classes=3 share_location=0 keep_top_k=2", inputs,
       "Y f 1,1,2,7 = 0,1,0.75,1,2,13,14,0,2,0.625,45,44,53,52"},
      {"DetectionOutput L C P -> Y num_classes=3 share_location=0 nms_top_k=1", inputs,
       "Y f 1,1,2,7 = 0,1,0.75,1,2,13,14,0,2,0.625,45,44,53,52"},
  });
}

}  // namespace
}  // namespace caffe2rt::test::regions_by_definition_test
