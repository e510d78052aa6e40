#pragma once
// Non-maximum suppression: selects boxes in descending order of their scores and drops boxes that
// overlap a selected one. The overlap of two boxes is the area of their intersection divided by that
// of their union.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace caffe2rt {

// Sorts scores in descending order. The memory is reused in later calls.
class ScoreOrder {
 public:
  // Returns the indices of the `top` largest of n scores, or of all if `top` is 0 or more than n.
  // NaN is the least. Equal scores: with `stable`, the least index first; otherwise they are in the
  // order in which std::partial_sort or std::sort leaves them, as in Caffe2. Valid until the next
  // call.
  const std::vector<int32_t>& Sort(const float* scores, int64_t n, int64_t top, bool stable);

 private:
  bool HasTies(size_t top) const;

  std::vector<uint64_t> keys_;
  std::vector<int32_t> order_;
};

struct SuppressionRule {
  bool rotated = false;
  float one = 1;           // the difference between the width of a box and x2 - x1
  float threshold = 0.3f;  // boxes with a larger overlap are dropped

  int64_t dim() const { return rotated ? 5 : 4; }
};

enum class SoftMethod { kLinear, kGaussian };
struct SoftRule {
  SoftMethod method = SoftMethod::kLinear;
  float sigma = 0.5f;
  float least = 0.001f;  // boxes with a lower score are dropped
};

// The memory is reused in later calls.
class BoxSuppressor {
 public:
  // Selects at most `top` of the boxes, or any number if `top` is 0. `order` has n rows of `boxes`
  // in descending order of their scores. Returns the selected rows; valid until the next call.
  const std::vector<int32_t>& Select(const SuppressionRule& rule, const float* boxes,
                                     const int32_t* order, int64_t n, int64_t top);
  // Soft suppression: decreases the scores of the boxes that overlap a selected one, and drops them
  // when their scores are low. `rows` may have any order. `scores` has a score for each row of
  // `boxes`.
  const std::vector<int32_t>& SelectSoftly(const SuppressionRule& rule, const SoftRule& soft,
                                           const float* boxes, const int32_t* rows, int64_t n,
                                           float* scores);

 private:
  void Load(const SuppressionRule& rule, const float* boxes, const int32_t* order, int64_t n);
  void DropOverlaps(const SuppressionRule& rule, const float* boxes, const int32_t* order,
                    int64_t first, int64_t n);

  std::vector<float> left_, top_, right_, bottom_, area_;
  std::vector<int32_t> dropped_;
  std::vector<int32_t> kept_;
  std::vector<int32_t> pending_;
};

// The overlap of two boxes.
float OverlapOfBoxes(const SuppressionRule& rule, const float* a, const float* b);

}  // namespace caffe2rt
