#include "operators/image/register.h"

namespace caffe2rt {

void RegisterImageOperators() {
  RegisterBRGNCHWCToPackedInt8BGRAStylizerDeprocess();
  RegisterChannelShuffle();
  RegisterPackedInt8BGRANHWCToNCHWCStylizerPreprocess();
  RegisterPadImage();
  RegisterResizeNearest();
  RegisterSpaceToBatch();
  RegisterUpsampleBilinear();
  RegisterUpsampleNearest();
}

}  // namespace caffe2rt
