// Add, Sub, Mul, Div.

#include "operators/elementwise/binary.h"
#include "operators/elementwise/binary_functions.h"

namespace caffe2rt {

void RegisterArithmetic() {
  RegisterBinary<AddFunction, float, double, int32_t, int64_t>(
      {.type = "Add", .doc = "Y = A + B.", .inplace = {{0, 0}, {1, 0}}}, __FILE__);
  RegisterBinary<SubFunction, float, double, int32_t, int64_t>(
      {.type = "Sub", .doc = "Y = A - B.", .inplace = {{0, 0}, {1, 0}}}, __FILE__);
  RegisterBinary<MulFunction, float, double, int32_t, int64_t>(
      {.type = "Mul", .doc = "Y = A * B.", .inplace = {{0, 0}, {1, 0}}}, __FILE__);
  RegisterBinary<DivFunction, float, double, int32_t, int64_t>(
      {.type = "Div", .doc = "Y = A / B; integers truncate towards 0.", .inplace = {{0, 0}}},
      __FILE__);
}

}  // namespace caffe2rt
