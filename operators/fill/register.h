#pragma once
// The operators of this family.

namespace caffe2rt {

// Registers all of them. Called once, through RegisterBuiltinOperators.
void RegisterFillOperators();

void RegisterConstantFill();
void RegisterDiagonalFill();
void RegisterGaussianFill();
void RegisterGivenTensorByteStringToUInt8Fill();
void RegisterGivenTensorFill();
void RegisterLengthsRangeFill();
void RegisterMSRAFill();
void RegisterRange();
void RegisterRangeFill();
void RegisterUniformFill();
void RegisterUniqueUniformFill();
void RegisterXavierFill();

}  // namespace caffe2rt
