#pragma once
// Registration of the convolutions.

namespace caffe2rt {

// All of this family. Called once, by RegisterBuiltinOperators.
void RegisterConvOperators();

void RegisterConv();
void RegisterConvTranspose();

}  // namespace caffe2rt
