#pragma once
// Which scale and zero point belong to which element, for QuantizeLinear and DequantizeLinear:
// one for all elements, one for each index of `axis`, or one for each block of `block_size`
// elements along `axis`.
//
// The elements are rows of equal length, but the last of each group of blocks may be shorter. The
// parameters of a row are one number, or one for each of its elements.

#include <algorithm>
#include <cstdint>

#include "caffe2_core/base/array_ref.h"
#include "caffe2_core/graph/argument_spec.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/tensor/tensor.h"
#include "operators/primitives/parallel_ranges.h"

namespace caffe2rt {

inline constexpr ArgumentSpec<int> kQuantizationAxis{
    "axis", 1,
    "the axis of X along which scales and zero points differ; negative axes count from the end"};
inline constexpr ArgumentSpec<int64_t> kQuantizationBlockSize{
    "block_size",
    0,
    "above 0: the number of elements along the axis that share a scale",
    {[](int64_t size) { return size >= 0; }, "at least 0"}};

struct QuantizationRows {
  int64_t groups = 1;        // rows with consecutive parameters repeat for each group
  int64_t rows = 1;          // of a group
  int64_t length = 0;        // elements of a row
  int64_t group_length = 0;  // elements of a group, at most rows * length
  int64_t rows_per_set = 1;  // that many rows of a group share their parameters
  int64_t set_length = 1;    // parameters of a row: 1, or `length`
  int64_t sets = 1;          // of a group; the sets of other groups follow
  bool repeat_sets = true;   // whether all groups have the same parameters

  // THROWS if the shape of the scales does not fit.
  void Make(IntArrayRef x, IntArrayRef scale, int axis, int64_t block_size);

  // Calls function(x, count, parameter, stride) with the offset of each row, its length, the offset
  // of its first parameter, and 0 or 1: whether each element has its own.
  template <class Function>
  void ForEach(const Function& function) const {
    if (groups == 1 && rows == 1 && set_length == 1) {
      return ParallelElements(length, [&](int64_t first, int64_t last) {
        function(first, last - first, int64_t{0}, int64_t{0});
      });
    }
    ParallelRanges(groups * rows, length + 4, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        const int64_t group = i / rows, row = i % rows;
        const int64_t set = row / rows_per_set + (repeat_sets ? 0 : group * sets);
        const int64_t count = std::min(length, group_length - row * length);
        function(group * group_length + row * length, count, set * set_length,
                 set_length > 1 ? int64_t{1} : int64_t{0});
      }
    });
  }
};

// THROWS unless the zero points, if given, have the shape of the scales.
void CheckZeroPointShape(const Tensor& scale, const Tensor& zero_point);

}  // namespace caffe2rt
