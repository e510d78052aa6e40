#pragma once
// Calls of operators on inputs that are long enough to be divided among threads, with sizes that are no multiples of a
// vector, a block or a range. For tests that compare ways to compute one result.

#include <string>
#include <vector>

#include "caffe2_core/runtime/workspace.h"

namespace caffe2rt::test {

struct LongCall {
  // Operators in their order, separated by " | ", each without input and output: "Slice X -> Y starts=1,2 mode=name".
  // Numbers with a point are floats; numbers with a comma are a list.
  const char* operators;
  // "X f 2,3; I i 4 <3; L i 5 = 1,2": name, element type (f: float, d: double, i: int32, l: int64, b: bool, u: uint8,
  // c: int8), dims ("-" is a scalar), and values: those behind "=" over and over, or random ones. Random integers are below the number
  // behind "<"; random floats are from -1 to 1, or from 0.5 to 2 for type p.
  const char* inputs;
  // 0: the same bits for every number of threads. Otherwise floats may differ by this * max(1, |value|).
  double tolerance = 0;
  // The same for a device; negative: the call is not compared with devices.
  double device_tolerance = 1e-5;
};

const std::vector<LongCall>& LongCalls();

std::vector<OperatorDef> OperatorsOf(const LongCall& call);
void FeedInputs(const LongCall& call, Workspace* ws);

}  // namespace caffe2rt::test
