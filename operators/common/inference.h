#pragma once
// Helpers for shape inference functions.

#include <algorithm>
#include <vector>

#include "caffe2_core/graph/op_schema.h"

namespace caffe2rt {

// Whether every dimension of `shape` is known.
inline bool IsKnown(const TensorShape& shape) {
  return !shape.unknown_shape() && shape.unknown_dims_size() == 0;
}

// Whether there are at least `count` inputs and the first `count` of them are known.
inline bool AreKnown(const std::vector<TensorShape>& shapes, size_t count) {
  if (shapes.size() < count) return false;
  for (size_t i = 0; i < count; ++i) {
    if (!IsKnown(shapes[i])) return false;
  }
  return true;
}

// An unknown shape for each output of `def`.
// A shape that is not known, of elements whose type is.
inline TensorShape UnknownShapeOf(TensorProto_DataType type) {
  TensorShape shape = UnknownShape();
  shape.set_data_type(type);
  return shape;
}
// Outputs whose shapes only a run decides, with elements of the type of input 0.
inline std::vector<TensorShape> UnknownOutputsOfInputType(const OperatorDef& def,
                                                          const std::vector<TensorShape>& in) {
  const bool known = !in.empty() && in[0].has_data_type();
  return std::vector<TensorShape>(static_cast<size_t>(def.output_size()),
                                  known ? UnknownShapeOf(in[0].data_type()) : UnknownShape());
}
inline std::vector<TensorShape> UnknownOutputs(const OperatorDef& def) {
  return std::vector<TensorShape>(static_cast<size_t>(def.output_size()), UnknownShape());
}

// An inference function for operators with one output: the shape of input `shape` with the element
// type of input `type`.
inline auto InferShapeAndType(size_t shape, size_t type) {
  return [shape, type](const OperatorDef& def, const std::vector<TensorShape>& in) {
    if (in.size() <= std::max(shape, type) || !IsKnown(in[shape])) return UnknownOutputs(def);
    return std::vector<TensorShape>{
        CreateTensorShape(GetDimsVector(in[shape]), in[type].data_type())};
  };
}

// The cost of an operator that only moves data: no arithmetic, reads every input, writes `outputs`.
// Elements are assumed to have 4 bytes.
inline OpSchema::Cost MoveCost(const std::vector<TensorShape>& inputs,
                               const std::vector<TensorShape>& outputs) {
  OpSchema::Cost cost;
  for (const TensorShape& shape : inputs)
    cost.bytes_read += IsKnown(shape) ? NumElements(shape) * 4 : 0;
  for (const TensorShape& shape : outputs) {
    cost.bytes_written += IsKnown(shape) ? NumElements(shape) * 4 : 0;
  }
  cost.bytes_moved = cost.bytes_read + cost.bytes_written;
  return cost;
}

}  // namespace caffe2rt
