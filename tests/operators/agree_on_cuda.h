#pragma once
// Proof that an operator does on CUDA what it does on the CPU, whose results are proved by
// themselves.

#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "contexts/cuda/cuda_context.h"
#include "operators/common/words.cuh"
#include "operators/register_cuda.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test {

// Skips where there is no device.
class OnCudaTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!HasCudaGPU()) GTEST_SKIP() << TheCudaMachine().message;
    RegisterCUDAContext();
    RegisterCudaOperators();
  }

  // Runs the operator on the CPU, over ws_, and on CUDA, over a copy of its inputs on the device
  // (those in `stay` on the CPU), and compares all outputs: type, shape and, up to `tolerance`,
  // values. `on_cpu`: outputs that have to be on the CPU. On CUDA twice, the second time with
  // memory that is used again and indices of 64 bits.
  void ExpectAgreement(const std::string& text, const std::set<std::string>& stay = {},
                       const std::set<std::string>& on_cpu = {}, double tolerance = 0) {
    SCOPED_TRACE(text);
    OperatorDef def = ParseOp(text);
    Workspace there;
    for (const std::string& name : def.input()) {
      const Tensor& input = ws_.GetBlob(name)->Get<Tensor>();
      there.CreateBlob(name)->GetMutableTensor(stay.contains(name) ? CPU : CUDA)->CopyFrom(input);
    }
    ASSERT_TRUE(ws_.RunOperatorOnce(def));
    def.mutable_device_option()->set_device_type(CUDA);
    const IndexOptions before = GlobalIndexOptions();
    for (const int64_t limit : {before.narrow_limit, int64_t{0}}) {
      SCOPED_TRACE(limit);
      GlobalIndexOptions().narrow_limit = limit;
      const bool success = there.RunOperatorOnce(def);
      GlobalIndexOptions() = before;
      ASSERT_TRUE(success);
      for (const std::string& name : def.output()) {
        SCOPED_TRACE(name);
        ASSERT_TRUE(there.GetBlob(name)->IsTensor(on_cpu.contains(name) ? CPU : CUDA));
        ExpectEqual(Tensor(there.GetBlob(name)->Get<Tensor>(), CPU),
                    ws_.GetBlob(name)->Get<Tensor>(), tolerance);
      }
    }
  }
  // What the operator says on CUDA with all inputs there.
  void ExpectCudaThrows(const std::string& text, const std::string& part) {
    OperatorDef def = ParseOp(text);
    def.mutable_device_option()->set_device_type(CUDA);
    Workspace there;
    for (const std::string& name : def.input()) {
      there.CreateBlob(name)->GetMutableTensor(CUDA)->CopyFrom(ws_.GetBlob(name)->Get<Tensor>());
    }
    ExpectThrows([&] { there.RunOperatorOnce(def); }, part);
  }

  Workspace ws_;

 private:
  static void ExpectEqual(const Tensor& got, const Tensor& want, double tolerance) {
    ASSERT_EQ(got.dtype().name(), want.dtype().name());
    ASSERT_EQ(got.dims(), want.dims());
    if (want.numel() == 0) return;
    if (tolerance == 0) {
      EXPECT_EQ(std::memcmp(got.raw_data(), want.raw_data(), want.nbytes()), 0) << "values differ";
      return;
    }
    for (int64_t i = 0; i < want.numel(); ++i) {
      ASSERT_NEAR(got.data<float>()[i], want.data<float>()[i], tolerance) << "element " << i;
    }
  }
};

}  // namespace caffe2rt::test
