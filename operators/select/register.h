#pragma once
// The operators of this family.

namespace caffe2rt {

// Registers all of them. Called once, through RegisterBuiltinOperators.
void RegisterSelectOperators();

void RegisterAccuracy();
void RegisterArgMax();
void RegisterBatchOneHot();
void RegisterHasElements();
void RegisterIsEmpty();
void RegisterOneHot();
void RegisterPrint();
void RegisterTopK();

}  // namespace caffe2rt
