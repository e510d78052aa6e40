#pragma once
// Integers that an operator of ONNX takes as an argument or, at run time, as an input: shapes, axes,
// pads, counts. An input without elements counts as not given, so that an optional input may be left
// out before one that is given. CPU only: nets on CUDA run these operators on the CPU.
//
//   const IntArrayRef pads = IntegersOf(*this, 1, "input 1 (pads)", pads_argument_, &pads_);

#include <cstdint>
#include <vector>

#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator.h"
#include "contexts/cpu/cpu_context.h"

namespace caffe2rt {

// Whether there is such an input, and it has elements.
inline bool IsGiven(const Operator<CPUContext>& op, int input) {
  return input < op.InputSize() && op.Input(input).numel() > 0;
}

// Reads a scalar or vector of int32 or int64. THROWS for other types and ranks.
void ReadIntegers(const Tensor& tensor, const char* subject, std::vector<int64_t>* values);

// The integers of the input if it is given, otherwise those of the argument. *values keeps memory
// between runs; the result is valid as long as it is not changed.
IntArrayRef IntegersOf(const Operator<CPUContext>& op, int input, const char* subject,
                       const std::vector<int64_t>& argument, std::vector<int64_t>* values);

// One integer, likewise. THROWS if the input has several.
int64_t IntegerOf(const Operator<CPUContext>& op, int input, const char* subject, int64_t argument);

// Makes axes non-negative: they count from the end if they are negative. No axes mean all of `rank`
// dimensions. THROWS if an axis is out of range or named twice.
void PlaceAxes(IntArrayRef axes, int64_t rank, std::vector<int64_t>* placed);
// One axis, likewise.
int64_t PlaceAxis(int64_t axis, int64_t rank);

// For shape inference: whether input i may have elements when the operator runs.
bool MayBeGiven(const OperatorDef& def, const std::vector<TensorShape>& in, int input);
// A shape that is not known, of elements whose type is that of `like`.
TensorShape UnknownShapeLike(const TensorShape& like);

}  // namespace caffe2rt
