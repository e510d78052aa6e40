#pragma once
// What tests of operators on CUDA share: the CPU's operator says what is right.

#include <string>

#include "contexts/cuda/cuda_device.h"
#include "tests/support/device_run.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test {

// Skips where there is no device.
class CudaOperatorTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!HasCudaGPU()) GTEST_SKIP() << TheCudaMachine().message;
  }
};

// Runs the operator, whose output is Y, on the CPU and on CUDA with the engine.
inline void ExpectCudaAgrees(Workspace* ws, const std::string& text, const std::string& engine,
                             double tolerance = 1e-5) {
  SCOPED_TRACE(text + " engine \"" + engine + "\"");
  OperatorDef def = ParseOp(text);
  ASSERT_TRUE(ws->RunOperatorOnce(def));
  const std::vector<int64_t> dims = DimsOf(*ws, "Y");
  const std::vector<float> want = Fetch<float>(*ws, "Y");
  Feed<float>(ws, "Y", {1}, {-777});
  def.set_engine(engine);
  ASSERT_TRUE(RunOperatorOn(CUDA, def, ws));
  ExpectTensor<float>(*ws, "Y", dims, want, tolerance);
}

}  // namespace caffe2rt::test
