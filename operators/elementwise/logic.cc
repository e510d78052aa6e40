// And, Or, Xor of bools, and the bitwise forms, which take integers too.

#include "caffe2_core/graph/gradient.h"
#include "operators/elementwise/binary.h"
#include "operators/elementwise/binary_functions.h"

namespace caffe2rt {

void RegisterLogic() {
  RegisterBinary<AndFunction, bool>({.type = "And", .doc = "Y = A and B.", .inplace = {{0, 0}}},
                                    __FILE__);
  RegisterBinary<OrFunction, bool>({.type = "Or", .doc = "Y = A or B.", .inplace = {{0, 0}}},
                                   __FILE__);
  RegisterBinary<XorFunction, bool>(
      {.type = "Xor", .doc = "Y = A or B, not both.", .inplace = {{0, 0}}}, __FILE__);
  RegisterBinary<AndFunction, bool, int32_t, int64_t>(
      {.type = "BitwiseAnd", .doc = "Y = A & B, bit by bit.", .inplace = {{0, 0}}}, __FILE__);
  RegisterBinary<OrFunction, bool, int32_t, int64_t>(
      {.type = "BitwiseOr", .doc = "Y = A | B, bit by bit.", .inplace = {{0, 0}}}, __FILE__);
  RegisterBinary<XorFunction, bool, int32_t, int64_t>(
      {.type = "BitwiseXor", .doc = "Y = A ^ B, bit by bit.", .inplace = {{0, 0}}}, __FILE__);
  // Not differentiable.
  for (const char* type : {"And", "Or", "Xor"}) {
    RegisterGradient<ThrowInTheTowelIfGradientIsCalled>(type, __FILE__);
  }
}

}  // namespace caffe2rt
