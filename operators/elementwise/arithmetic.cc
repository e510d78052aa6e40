// Add, Sub, Mul, Div. Their functions and the table of their operators are in
// binary_functions.h.

#include "operators/elementwise/binary.h"
#include "operators/elementwise/binary_functions.h"

namespace caffe2rt {

void RegisterArithmetic() { RegisterBinary(kArithmetic, __FILE__); }

}  // namespace caffe2rt
