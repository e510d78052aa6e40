// And, Or and Xor of bools, and BitwiseAnd, BitwiseOr and BitwiseXor, which also accept integers.
// binary_functions.h contains the functions and the table of their operators.

#include "operators/elementwise/binary.h"
#include "operators/elementwise/binary_functions.h"

namespace caffe2rt {

void RegisterLogic() { RegisterBinary(kLogic, __FILE__); }

}  // namespace caffe2rt
