#include "operators/shape/register.h"

namespace caffe2rt {

void RegisterShapeOperators() {
  RegisterConcat();
  RegisterEnsureDense();
  RegisterExpandDims();
  RegisterFlatten();
  RegisterFlattenToVec();
  RegisterGather();
  RegisterMergeDim();
  RegisterNCHW2NHWC();
  RegisterPrependDim();
  RegisterReshape();
  RegisterResizeLike();
  RegisterShape();
  RegisterSize();
  RegisterSlice();
  RegisterSplit();
  RegisterSqueeze();
  RegisterTile();
  RegisterTranspose();
}

}  // namespace caffe2rt
