#pragma once
// Runs the tests of a suite with each of cuDNN's APIs:
//
//   using CudaConvTest = OnBothCudnnApis;
//   TEST_P(CudaConvTest, AgreesWithTheCpu) { ... }
//   INSTANTIATE_TEST_SUITE_P(Api, CudaConvTest, testing::Bool(), NameOfCudnnApi);

#include <string>

#include "contexts/cuda/cuda_libraries.h"
#include "tests/support/devices_agree.h"

namespace caffe2rt::test {

// The parameter: whether convolutions run by the backend API where it supports them.
class OnBothCudnnApis : public OnDeviceTest, public testing::WithParamInterface<bool> {
 protected:
  OnBothCudnnApis() { GlobalCudaLibraryOptions().cudnn_graph = GetParam(); }
  ~OnBothCudnnApis() override { GlobalCudaLibraryOptions().cudnn_graph = true; }
};

inline std::string NameOfCudnnApi(const testing::TestParamInfo<bool>& info) {
  return info.param ? "Graph" : "Legacy";
}

}  // namespace caffe2rt::test
