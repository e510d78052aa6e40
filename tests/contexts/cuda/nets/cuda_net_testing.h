#pragma once
// Helpers that the tests of nets on CUDA share.

#include <string>
#include <vector>

#include "caffe2_core/runtime/net.h"
#include "caffe2rt/caffe2.pb.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/register_cuda.h"
#include "tests/contexts/cuda/cuda_fake_testing.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test {

inline void RegisterCuda() {
  RegisterCUDAContext();
  RegisterCudaOperators();
}

class CudaNetTest : public CudaTest {
 protected:
  static void SetUpTestSuite() { RegisterCuda(); }
};

inline std::vector<std::string> TypesOf(const NetDef& net) {
  std::vector<std::string> types;
  for (const OperatorDef& op : net.op()) types.push_back(op.type());
  return types;
}

// Creates or overwrites a tensor on the current CUDA device.
inline void FeedCuda(Workspace* ws, const std::string& name, const std::vector<int64_t>& dims,
                     const std::vector<float>& values) {
  Tensor host(dims, CPU);
  std::copy(values.begin(), values.end(), host.mutable_data<float>());
  ws->CreateBlob(name)->GetMutableTensor(CUDA)->CopyFrom(host);
}

inline std::vector<float> FetchCuda(const Workspace& ws, const std::string& name) {
  const Tensor host(ws.GetBlob(name)->Get<Tensor>(), CPU);
  return {host.data<float>(), host.data<float>() + host.numel()};
}

}  // namespace caffe2rt::test
