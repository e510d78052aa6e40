#pragma once
// The operators of this family.

namespace caffe2rt {

// Registers all of them. Called once, through RegisterBuiltinOperators.
void RegisterShapeOperators();

void RegisterConcat();
void RegisterEnsureDense();
void RegisterExpandDims();
void RegisterFlatten();
void RegisterFlattenToVec();
void RegisterGather();
void RegisterMergeDim();
void RegisterNCHW2NHWC();
void RegisterPrependDim();
void RegisterReshape();
void RegisterResizeLike();
void RegisterShape();
void RegisterSize();
void RegisterSlice();
void RegisterSplit();
void RegisterSqueeze();
void RegisterTile();
void RegisterTranspose();

}  // namespace caffe2rt
