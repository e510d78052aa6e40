#pragma once
// Arithmetic of synced memory (contexts/synced) on CUDA.

namespace caffe2rt {

// Makes it known. THROWS the second time.
void RegisterSyncedMathCuda();

}  // namespace caffe2rt
