#pragma once
// Calls of operators that must fail, as rows of tables.

#include <string>

#include "caffe2_core/runtime/workspace.h"

namespace caffe2rt::test {

// A call that must fail with an error that contains `part`.
struct Refusal {
  const char* op;
  // Inputs: "X f 2,3; I i 2 = 5,-1": name, element type (f: float, d: double, i: int32, l: int64,
  // b: bool, u: uint8, c: int8, s: string), dims, and values, which are 0, 1, 2, ... if they are
  // absent. "-" as dims is a scalar.
  const char* inputs;
  const char* part;
};

// Feeds an input as Refusal::inputs has it.
void FeedInput(Workspace* ws, const std::string& text);
// Expects the error of a row.
void ExpectRefusal(const Refusal& row);

}  // namespace caffe2rt::test
