#pragma once
// Tables of the shapes and types that schemas infer.
//
//   {"Concat", "axis=1", "f[2,3] f[2,1]", "f[2,4] i[2]", "01"}
//
// Arguments are name=value: an integer, a number with a point, a text, a list of numbers with commas ("0," has one),
// or a list of texts with semicolons.
// A shape is the letter of its type (f float, h float16, d double, c int8, u uint8, i int32, l int64, b bool, s string)
// and its dims, of inputs also "?"; "?" is an unknown shape without a type, "?f" one of float.

#include <string>
#include <vector>

#include "caffe2_core/graph/op_schema.h"

namespace caffe2rt::test {

struct InferenceRow {
  const char* type;
  const char* args;
  const char* inputs;
  const char* outputs;  // or "! " and the message of the error
  // The inputs whose shapes output 0 needs: without another one its shape is the same. Not checked if null.
  const char* needs = nullptr;
};

void ExpectInferred(const std::vector<InferenceRow>& rows);

}  // namespace caffe2rt::test
