#pragma once
// Small arrays at import time, and the functions of their elements. Internal to folding.cc.

#include <optional>
#include <string_view>
#include <vector>

#include "caffe2_core/import/onnx/onnx_values.h"

namespace caffe2rt {

// A small array in one world. Integers and bools are in `ints`, which is exact for 64 bits.
struct OnnxArray {
  int type = 0;
  OnnxDims dims = {};
  std::vector<int64_t> ints = {};
  std::vector<double> reals = {};

  bool real() const { return IsOnnxReal(type); }
  int64_t size() const { return static_cast<int64_t>(real() ? reals.size() : ints.size()); }
  double Real(size_t i) const { return real() ? reals[i] : static_cast<double>(ints[i]); }
  int64_t Int(size_t i) const { return real() ? static_cast<int64_t>(reals[i]) : ints[i]; }
  void Push(const OnnxArray& from, size_t i) {
    if (real()) {
      reals.push_back(from.Real(i));
    } else {
      ints.push_back(from.Int(i));
    }
  }
};

// Nothing if the array cannot be computed here.
using OnnxArrayResult = std::optional<OnnxArray>;
// The inputs, null where the node leaves one out.
using OnnxArrays = std::vector<const OnnxArray*>;

// The number of elements, or nothing if there are more than are followed.
std::optional<int64_t> SmallOnnxSize(const OnnxDims& dims);
// As a number of the type: a float, or an integer of its width.
double RoundOnnxReal(int type, double value);
int64_t WrapOnnxInteger(int type, int64_t value);
// For each element of an array of shape `dims` the position in one of shape `from`, which is broadcast.
std::optional<std::vector<size_t>> OnnxBroadcastPositions(const OnnxDims& from,
                                                          const OnnxDims& dims);
std::optional<OnnxDims> OnnxBroadcastDims(const OnnxDims& a, const OnnxDims& b);

// Functions of one element, arithmetic, comparisons and logic.
bool IsOnnxUnary(std::string_view type);
bool IsOnnxBinary(std::string_view type);
OnnxArrayResult ComputeOnnxUnary(std::string_view type, const OnnxArray& x);
OnnxArrayResult ComputeOnnxBinary(std::string_view type, const OnnxArrays& in);

}  // namespace caffe2rt
