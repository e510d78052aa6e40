#pragma once
// Parts of Concat and Split that a memory plan placed inside the whole tensor
// (memory_traits.h): they are not copied.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

#include "caffe2_core/graph/memory_traits.h"
#include "operators/shape/join_axis.h"

namespace caffe2rt {

// Whether a part overlaps the memory of the whole and is not at its place, `place`. Copies between
// the two would then overwrite data that is still needed.
inline bool IsMisplaced(const void* part, size_t part_bytes, const void* place, const void* whole,
                        size_t whole_bytes) {
  const auto begin = reinterpret_cast<uintptr_t>(part);
  const auto first = reinterpret_cast<uintptr_t>(whole);
  return part != place && part_bytes > 0 && begin < first + whole_bytes &&
         first < begin + part_bytes;
}

// The parts of a whole that are at their places, which nothing writes: others may lie inside them, as
// the inputs of a Concat do that is itself an input of this one.
class PartsInPlace {
 public:
  void Clear() { parts_.clear(); }
  // In ascending order of places.
  void Add(const void* part, size_t bytes) {
    const auto begin = reinterpret_cast<uintptr_t>(part);
    parts_.push_back({begin, begin + bytes});
  }
  // Whether the memory is inside one of the parts.
  bool Contain(const void* memory, size_t bytes) const {
    const auto begin = reinterpret_cast<uintptr_t>(memory);
    const auto after =
        std::upper_bound(parts_.begin(), parts_.end(), begin,
                         [](uintptr_t at, const Range& part) { return at < part.begin; });
    return after != parts_.begin() && begin + bytes <= std::prev(after)->end;
  }

 private:
  struct Range {
    uintptr_t begin, end;
  };
  std::vector<Range> parts_;
};

#pragma GCC visibility push(default)  // for libcaffe2_cuda
// The places of the parts in a tensor of shape `whole` that is cut along the axis, if they are
// contiguous in memory: all dimensions before the axis are 1. `parts` are their shapes. Empty if a
// shape is not known. On IDEEP, all parts but the last must consist of whole
// blocks of 16 channels; with the argument output_precision bf16, elements take two bytes, and with
// blocked_inputs, only the first parts are in the layout of the whole.
std::vector<MemoryTraits::Part> PlacesOfParts(const OperatorDef& def, const TensorShape& whole,
                                              const std::vector<TensorShape>& parts, JoinAxis join);
#pragma GCC visibility pop

}  // namespace caffe2rt
