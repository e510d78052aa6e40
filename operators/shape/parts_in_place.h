#pragma once
// Parts of Concat and Split that a memory plan placed inside the whole tensor
// (memory_traits.h): they are not copied.

#include <cstddef>
#include <cstdint>
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

#pragma GCC visibility push(default)  // for libcaffe2_cuda
// The places of the parts in a tensor of shape `whole` that is cut along the axis, if they are
// contiguous in memory: all dimensions before the axis are 1. `parts` are their shapes. Empty if a
// shape is not known. On IDEEP, all parts but the last must consist of whole
// blocks of 16 channels.
std::vector<MemoryTraits::Part> PlacesOfParts(const OperatorDef& def, const TensorShape& whole,
                                              const std::vector<TensorShape>& parts, JoinAxis join);
#pragma GCC visibility pop

}  // namespace caffe2rt
