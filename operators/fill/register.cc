#include "operators/fill/register.h"

namespace caffe2rt {

void RegisterFillOperators() {
  RegisterConstantFill();
  RegisterDiagonalFill();
  RegisterGaussianFill();
  RegisterGivenTensorByteStringToUInt8Fill();
  RegisterGivenTensorFill();
  RegisterLengthsRangeFill();
  RegisterMSRAFill();
  RegisterRange();
  RegisterRangeFill();
  RegisterUniformFill();
  RegisterUniqueUniformFill();
  RegisterXavierFill();
}

}  // namespace caffe2rt
