// LT, LE, GT, GE, EQ, NE. binary_functions.h contains the functions and the table of their
// operators.

#include "operators/elementwise/binary.h"
#include "operators/elementwise/binary_functions.h"

namespace caffe2rt {

void RegisterComparisons() { RegisterBinary(kComparisons, __FILE__); }

}  // namespace caffe2rt
