#pragma once
// The built-in operators of this family.

namespace caffe2rt {

void RegisterImageOperators();

void RegisterBRGNCHWCToPackedInt8BGRAStylizerDeprocess();
void RegisterChannelShuffle();
void RegisterPackedInt8BGRANHWCToNCHWCStylizerPreprocess();
void RegisterPadImage();
void RegisterResizeNearest();
void RegisterSpaceToBatch();
void RegisterUpsampleBilinear();
void RegisterUpsampleNearest();

}  // namespace caffe2rt
