#include "operators/detection/box_suppression.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "caffe2_core/base/simd.h"
#include "operators/detection/rotated_overlap.h"

namespace caffe2rt {

namespace {

// Larger for smaller scores; the same for 0 and -0, and the largest for NaN.
uint32_t KeyOfScore(float score) {
  if (std::isnan(score)) return std::numeric_limits<uint32_t>::max();
  const uint32_t bits = std::bit_cast<uint32_t>(score + 0.0f);
  return (bits >> 31) != 0 ? bits : 0x7fffffffu - bits;
}

struct UprightBox {
  float left, top, right, bottom, area;
};

// dropped[i] |= the overlap with `box` is not at most `threshold`, for the boxes [first, n). NaN
// counts as an overlap.
CAFFE2RT_SIMD void MarkBoxOverlaps(const UprightBox& box, float one, float threshold, int64_t n,
                                   const float* left, const float* top, const float* right,
                                   const float* bottom, const float* area, int32_t* dropped) {
  for (int64_t i = 0; i < n; ++i) {
    const float x1 = left[i] > box.left ? left[i] : box.left;
    const float y1 = top[i] > box.top ? top[i] : box.top;
    const float x2 = right[i] < box.right ? right[i] : box.right;
    const float y2 = bottom[i] < box.bottom ? bottom[i] : box.bottom;
    const float w = x2 - x1 + one, h = y2 - y1 + one;
    const float common = (w > 0 ? w : 0) * (h > 0 ? h : 0);
    const float overlap = common / (box.area + area[i] - common);
    dropped[i] |= overlap <= threshold ? 0 : 1;
  }
}

float AreaOf(float one, const float* box) {
  return (box[2] - box[0] + one) * (box[3] - box[1] + one);
}

// The factor of the score of a box.
float Decay(const SuppressionRule& rule, const SoftRule& soft, float overlap) {
  if (soft.method == SoftMethod::kGaussian) return std::exp(-overlap * overlap / soft.sigma);
  return overlap > rule.threshold ? 1 - overlap : 1;
}

}  // namespace

const std::vector<int32_t>& ScoreOrder::Sort(const float* scores, int64_t n, int64_t top,
                                             bool stable) {
  const size_t size = static_cast<size_t>(n);
  const size_t count = top > 0 && top < n ? static_cast<size_t>(top) : size;
  keys_.resize(size);
  for (size_t i = 0; i < size; ++i) keys_[i] = uint64_t{KeyOfScore(scores[i])} << 32 | i;
  const auto middle = keys_.begin() + static_cast<std::ptrdiff_t>(count);
  if (count < size) std::nth_element(keys_.begin(), middle, keys_.end());
  std::sort(keys_.begin(), middle);
  order_.resize(size);
  if (!stable && HasTies(count)) {
    const auto higher = [scores](int32_t a, int32_t b) {
      return KeyOfScore(scores[a]) < KeyOfScore(scores[b]);
    };
    std::iota(order_.begin(), order_.end(), 0);
    if (count < size) {
      std::partial_sort(order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(count),
                        order_.end(), higher);
    } else {
      std::sort(order_.begin(), order_.end(), higher);
    }
  } else {
    for (size_t i = 0; i < count; ++i) order_[i] = static_cast<int32_t>(keys_[i] & 0xffffffffu);
  }
  order_.resize(count);
  return order_;
}

// Whether two of the first `top` scores, or the last of them and a later one, are equal.
bool ScoreOrder::HasTies(size_t top) const {
  for (size_t i = 1; i < top; ++i) {
    if (keys_[i] >> 32 == keys_[i - 1] >> 32) return true;
  }
  for (size_t i = top; i < keys_.size(); ++i) {
    if (keys_[i] >> 32 == keys_[top - 1] >> 32) return true;
  }
  return false;
}

float OverlapOfBoxes(const SuppressionRule& rule, const float* a, const float* b) {
  if (rule.rotated) return OverlapOfRotatedBoxes(a, b);
  const float w = std::min(a[2], b[2]) - std::max(a[0], b[0]) + rule.one;
  const float h = std::min(a[3], b[3]) - std::max(a[1], b[1]) + rule.one;
  const float common = std::max(w, 0.0f) * std::max(h, 0.0f);
  return common / (AreaOf(rule.one, a) + AreaOf(rule.one, b) - common);
}

void BoxSuppressor::Load(const SuppressionRule& rule, const float* boxes, const int32_t* order,
                         int64_t n) {
  for (std::vector<float>* values : {&left_, &top_, &right_, &bottom_, &area_}) {
    values->resize(static_cast<size_t>(n));
  }
  for (size_t i = 0; i < static_cast<size_t>(n); ++i) {
    const float* const box = boxes + order[i] * int64_t{4};
    left_[i] = box[0];
    top_[i] = box[1];
    right_[i] = box[2];
    bottom_[i] = box[3];
    area_[i] = AreaOf(rule.one, box);
  }
}

// Drops the boxes after `first` that overlap it.
void BoxSuppressor::DropOverlaps(const SuppressionRule& rule, const float* boxes,
                                 const int32_t* order, int64_t first, int64_t n) {
  const size_t at = static_cast<size_t>(first), next = at + 1;
  if (!rule.rotated) {
    const UprightBox box{left_[at], top_[at], right_[at], bottom_[at], area_[at]};
    MarkBoxOverlaps(box, rule.one, rule.threshold, n - first - 1, left_.data() + next,
                    top_.data() + next, right_.data() + next, bottom_.data() + next,
                    area_.data() + next, dropped_.data() + next);
    return;
  }
  const float* const box = boxes + order[at] * rule.dim();
  for (size_t i = next; i < static_cast<size_t>(n); ++i) {
    if (dropped_[i] != 0) continue;
    const float overlap = OverlapOfRotatedBoxes(box, boxes + order[i] * rule.dim());
    dropped_[i] = overlap <= rule.threshold ? 0 : 1;
  }
}

const std::vector<int32_t>& BoxSuppressor::Select(const SuppressionRule& rule, const float* boxes,
                                                  const int32_t* order, int64_t n, int64_t top) {
  if (!rule.rotated) Load(rule, boxes, order, n);
  dropped_.assign(static_cast<size_t>(n), 0);
  kept_.clear();
  for (int64_t i = 0; i < n; ++i) {
    if (dropped_[static_cast<size_t>(i)] != 0) continue;
    kept_.push_back(order[i]);
    if (top > 0 && static_cast<int64_t>(kept_.size()) >= top) break;
    DropOverlaps(rule, boxes, order, i, n);
  }
  return kept_;
}

const std::vector<int32_t>& BoxSuppressor::SelectSoftly(const SuppressionRule& rule,
                                                        const SoftRule& soft, const float* boxes,
                                                        const int32_t* rows, int64_t n,
                                                        float* scores) {
  pending_.assign(rows, rows + n);
  kept_.clear();
  while (!pending_.empty()) {
    const auto best =
        std::max_element(pending_.begin(), pending_.end(), [scores](int32_t a, int32_t b) {
          return KeyOfScore(scores[a]) > KeyOfScore(scores[b]);  // the first of equal scores
        });
    std::swap(pending_.front(), *best);
    const int32_t selected = pending_.front();
    kept_.push_back(selected);
    size_t left = 0;
    for (size_t i = 1; i < pending_.size(); ++i) {
      const int32_t row = pending_[i];
      const float overlap =
          OverlapOfBoxes(rule, boxes + selected * rule.dim(), boxes + row * rule.dim());
      scores[row] *= Decay(rule, soft, overlap);
      if (scores[row] >= soft.least) pending_[left++] = row;
    }
    pending_.resize(left);
  }
  return kept_;
}

}  // namespace caffe2rt
