#pragma once
// Registration of the matrix products.

namespace caffe2rt {

// All of this family. Called once, by RegisterBuiltinOperators.
void RegisterMatmulOperators();

void RegisterBatchMatMul();
void RegisterFC();
void RegisterMatMul();

}  // namespace caffe2rt
