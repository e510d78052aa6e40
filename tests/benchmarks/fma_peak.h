#pragma once
// The bound of every benchmark that multiplies matrices: the rate of fused multiply-adds from
// registers.

namespace caffe2rt::test {

// Billions of floating-point operations per second, two for each multiply-add, that the threads of
// the process's pool reach together in the widest registers of CpuIsa(): the best of several short
// measurements. Takes about 0.1 s.
double FmaPeakGflops();

}  // namespace caffe2rt::test
