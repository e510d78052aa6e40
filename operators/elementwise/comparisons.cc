// LT, LE, GT, GE, EQ, NE. Their functions and the table of their operators are in
// binary_functions.h.

#include "operators/elementwise/binary.h"
#include "operators/elementwise/binary_functions.h"

namespace caffe2rt {

void RegisterComparisons() { RegisterBinary(kComparisons, __FILE__); }

}  // namespace caffe2rt
