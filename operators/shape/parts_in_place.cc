#include "operators/shape/parts_in_place.h"

#include <algorithm>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/tensor/data_type.h"
#include "caffe2_core/tensor/tensor.h"
#include "operators/common/inference.h"
#include "operators/common/onednn_argument.h"

namespace caffe2rt {
namespace {

constexpr int64_t kBlock = 16;  // channels in a block of oneDNN's layouts

// Whether the offsets of the parts are the same in the layouts that IDEEP uses for this shape.
bool HasWholeBlocks(const TensorShape& whole, const std::vector<TensorShape>& parts, int axis) {
  if (whole.dims_size() != 4 || axis != 1) return false;
  for (size_t i = 0; i < parts.size(); ++i) {
    const bool is_last = i + 1 == parts.size();
    if (parts[i].dims_size() != 4 || (!is_last && parts[i].dims(1) % kBlock != 0)) return false;
  }
  return true;
}

}  // namespace

std::vector<MemoryTraits::Part> PlacesOfParts(const OperatorDef& def, const TensorShape& whole,
                                              const std::vector<TensorShape>& parts,
                                              JoinAxis join) {
  if (!IsKnown(whole) || !AreKnown(parts, parts.size())) return {};
  const int axis = canonical_axis_index_(join.axis, whole.dims_size());
  for (int i = 0; i < axis; ++i) {
    if (whole.dims(i) != 1) return {};
  }
  size_t item = DataTypeToTypeMeta(whole.data_type()).itemsize();
  size_t most = parts.size();
  if (def.device_option().device_type() == IDEEP) {
    if (!HasWholeBlocks(whole, parts, axis)) return {};
    // Images of bf16 take half of the memory of floats. Bytes are in nhwc.
    const std::string precision = ArgumentHelper(def).Read(kOutputPrecision);
    if (precision == "int8") return {};
    if (precision == "bf16") item = sizeof(uint16_t);
    const int blocked = ArgumentHelper(def).Read(kBlockedInputs);
    if (blocked >= 0) most = std::min(most, static_cast<size_t>(blocked));
  }
  std::vector<MemoryTraits::Part> places;
  size_t offset = 0;
  for (size_t i = 0; i < most; ++i) {
    const auto elements = static_cast<size_t>(CheckedProduct(parts[i].dims()));
    if (elements > 0) places.push_back({.index = static_cast<int>(i), .offset_bytes = offset});
    offset = CheckedAdd(offset, CheckedMultiply(elements, item));
  }
  return places;
}

}  // namespace caffe2rt
