#pragma once
// The built-in operators of this family on CUDA.

namespace caffe2rt {

void RegisterElementwiseCudaOperators();

void RegisterActivationsCuda();
void RegisterArithmeticCuda();
void RegisterCastCuda();
void RegisterComparisonsCuda();
void RegisterCopiesCuda();
void RegisterDropoutCuda();
void RegisterFiniteChecksCuda();
void RegisterLogicCuda();
void RegisterNaryCuda();
void RegisterPowCuda();
void RegisterPReluCuda();
void RegisterUnaryMathCuda();
void RegisterWhereCuda();

}  // namespace caffe2rt
