#pragma once
// Proves that values of a net have the same shape, whatever the shapes of its inputs are.
//
//   Conv  x w1 -> a     3x3, pad 1, 64 filters
//   Conv  a w2 -> b     3x3, pad 1, 64 filters       AreSame(a, b): true
//   Conv  x w3 -> c     1x1, stride 2, 64 filters    AreSame(a, c): false, or not known
//
// A shape is described relative to a value of unknown shape: the number of channels, and for each
// spatial axis the chain of windows that were applied. A window maps the size n of an axis to
// floor((n + offset) / stride) + 1, so that windows with equal numbers count as equal.

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "caffe2_core/graph/passes/net_pass.h"
#include "caffe2_core/graph/passes/net_values.h"
#include "caffe2rt/caffe2.pb.h"

namespace caffe2rt {

// Time and memory are linear in the size of the net, up to a logarithmic factor.
class SameShapes {
 public:
  using Value = NetValues::Value;
  SameShapes(const NetDef& net, const NetValues& values, NetConstants* constants);

  // Whether the two values are known to have the same shape in every run that succeeds.
  bool AreSame(Value a, Value b) const { return Of(a) == Of(b); }

 private:
  struct Shape {
    Value base = 0;                 // the value of unknown shape
    int64_t channels = -1;          // -1: those of the base
    bool channels_last = false;     // meaningful once `spatial` is not empty
    std::vector<uint32_t> spatial;  // for each axis a chain of windows, 0 if empty
    bool operator==(const Shape&) const = default;
  };

  const Shape& Of(Value value) const { return shapes_[value]; }
  // The shape of output 0 of operator `op`, which otherwise is a new base.
  Shape Infer(size_t op, const OperatorDef& def, NetConstants* constants);
  Shape InferConv(size_t op, const OperatorDef& def, NetConstants* constants);
  Shape InferArithmetic(size_t op, const OperatorDef& def, NetConstants* constants);
  // The chain with another window at its end.
  uint32_t Append(uint32_t chain, int64_t offset, int64_t stride);

  const NetValues& values_;
  std::vector<Shape> shapes_;  // by value
  std::map<std::tuple<uint32_t, int64_t, int64_t>, uint32_t> chains_;
};

}  // namespace caffe2rt
