// And, Or, Xor of bools, and their bitwise versions, which accept integers too. Their functions and
// the table of their operators are in binary_functions.h.

#include "operators/elementwise/binary.h"
#include "operators/elementwise/binary_functions.h"

namespace caffe2rt {

void RegisterLogic() { RegisterBinary(kLogic, __FILE__); }

}  // namespace caffe2rt
