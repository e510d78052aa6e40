#include "operators/detection/roi_align_blocks.h"

#include <algorithm>

#include "operators/primitives/float_lanes.h"

namespace caffe2rt {

namespace {

// sums[column] = the sum over `rows` of weight * image[row, column]
template <class L>
[[gnu::always_inline]] inline void SumRows(const BlockTask& task, const BinTaps& rows,
                                           const float* image) {
  float* sums = task.sums;
  for (int64_t w = task.roi->left; w < task.roi->right; ++w, sums += kLanes) {
    const float* from = image + rows.first * task.row_distance + w * task.pixel_distance;
    typename L::Vector sum[L::kParts] = {};
    for (int64_t k = 0; k < rows.count; ++k, from += task.row_distance) {
      const float weight = task.weights[rows.at + k];
      for (int p = 0; p < L::kParts; ++p) sum[p] += weight * L::At(from + p * L::kWidth).lanes;
    }
    for (int p = 0; p < L::kParts; ++p) L::At(sums + p * L::kWidth).lanes = sum[p];
  }
}

// y[bin] = the average of the bin. `image` is where pixel (0, 0) of the image is, or would be.
template <class L>
[[gnu::always_inline]] inline void AlignBlock(const BlockTask& task, const float* image, float* y) {
  for (int64_t r = 0; r < task.pooled_h; ++r) {
    const BinTaps& rows = task.bins[task.roi->rows + r];
    if (rows.count > 0) SumRows<L>(task, rows, image);
    for (int64_t c = 0; c < task.pooled_w; ++c, y += task.bin_distance) {
      const BinTaps& columns = task.bins[task.roi->columns + c];
      typename L::Vector sum[L::kParts] = {};
      const float* from = task.sums + (columns.first - task.roi->left) * kLanes;
      for (int64_t k = 0; k < (rows.count > 0 ? columns.count : 0); ++k, from += kLanes) {
        const float weight = task.weights[columns.at + k];
        for (int p = 0; p < L::kParts; ++p) sum[p] += weight * L::At(from + p * L::kWidth).lanes;
      }
      for (int p = 0; p < L::kParts; ++p) L::At(y + p * L::kWidth).lanes = sum[p];
    }
  }
}

// Adds the gradient of the bins to the image.
template <class L>
[[gnu::always_inline]] inline void AddBlock(const BlockTask& task, const float* dy, float* image) {
  const RoiTaps& roi = *task.roi;
  for (int64_t r = 0; r < task.pooled_h; ++r) {
    const BinTaps& rows = task.bins[roi.rows + r];
    float* sums = task.sums;
    std::fill_n(sums, (roi.right - roi.left) * kLanes, 0.0f);
    for (int64_t c = 0; c < task.pooled_w; ++c, dy += task.bin_distance) {
      const BinTaps& columns = task.bins[roi.columns + c];
      float* to = sums + (columns.first - roi.left) * kLanes;
      for (int64_t k = 0; k < columns.count; ++k, to += kLanes) {
        const float weight = task.weights[columns.at + k];
        for (int p = 0; p < L::kParts; ++p) {
          L::At(to + p * L::kWidth).lanes += weight * L::At(dy + p * L::kWidth).lanes;
        }
      }
    }
    for (int64_t w = roi.left; w < roi.right; ++w, sums += kLanes) {
      float* to = image + rows.first * task.row_distance + w * task.pixel_distance;
      for (int64_t k = 0; k < rows.count; ++k, to += task.row_distance) {
        const float weight = task.weights[rows.at + k];
        for (int p = 0; p < L::kParts; ++p) {
          L::At(to + p * L::kWidth).lanes += weight * L::At(sums + p * L::kWidth).lanes;
        }
      }
    }
  }
}

CAFFE2RT_TARGET_AVX512 void AlignAvx512(const BlockTask& task, const float* x, float* y) {
  AlignBlock<Avx512Lanes>(task, x, y);
}
CAFFE2RT_TARGET_AVX2 void AlignAvx2(const BlockTask& task, const float* x, float* y) {
  AlignBlock<Avx2Lanes>(task, x, y);
}
void AlignPlain(const BlockTask& task, const float* x, float* y) {
  AlignBlock<PlainLanes>(task, x, y);
}
CAFFE2RT_TARGET_AVX512 void AddAvx512(const BlockTask& task, const float* dy, float* dx) {
  AddBlock<Avx512Lanes>(task, dy, dx);
}
CAFFE2RT_TARGET_AVX2 void AddAvx2(const BlockTask& task, const float* dy, float* dx) {
  AddBlock<Avx2Lanes>(task, dy, dx);
}
void AddPlain(const BlockTask& task, const float* dy, float* dx) {
  AddBlock<PlainLanes>(task, dy, dx);
}

}  // namespace

BlockFunction* AlignBlockFunction() { return PickByIsa(AlignAvx512, AlignAvx2, AlignPlain); }
BlockFunction* AddBlockFunction() { return PickByIsa(AddAvx512, AddAvx2, AddPlain); }

}  // namespace caffe2rt
