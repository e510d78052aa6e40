#pragma once
// Arithmetic on synced memory (contexts/synced) on CUDA.

namespace caffe2rt {

// Registers the CUDA implementation of SyncedMath. THROWS if called twice.
void RegisterSyncedMathCuda();

}  // namespace caffe2rt
