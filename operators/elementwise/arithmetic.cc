// Add, Sub, Mul, Div. binary_functions.h contains the functions and the table of their operators.

#include "operators/elementwise/binary.h"
#include "operators/elementwise/binary_functions.h"

namespace caffe2rt {

void RegisterArithmetic() { RegisterBinary(kArithmetic, __FILE__); }

}  // namespace caffe2rt
