#pragma once
// The built-in operators of this family.

namespace caffe2rt {

void RegisterElementwiseOperators();

void RegisterActivations();
void RegisterArithmetic();
void RegisterCast();
void RegisterComparisons();
void RegisterConditional();
void RegisterCopies();
void RegisterDropout();
void RegisterFiniteChecks();
void RegisterLogic();
void RegisterNary();
void RegisterPow();
void RegisterPRelu();
void RegisterUnaryMath();
void RegisterWhere();

}  // namespace caffe2rt
