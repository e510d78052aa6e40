#pragma once
// The built-in operators of this family.

namespace caffe2rt {

void RegisterNormOperators();

void RegisterGroupNorm();
void RegisterInstanceNorm();
void RegisterLayerNorm();
void RegisterLRN();
void RegisterSoftmax();
void RegisterSpatialBN();

}  // namespace caffe2rt
