// Selects the pool that the tests use (cuda_pool.h), and ends the fake's worker threads before the
// program ends, because ThreadSanitizer requires every thread to be joined.
#include <gtest/gtest.h>

#include "tests/support/cuda_pool.h"

extern "C" __attribute__((weak)) void fakecuda_reset(const struct FakeCudaConfig* config);

namespace caffe2rt::test {
namespace {

class CudaEnvironment final : public testing::Environment {
 public:
  void SetUp() override { UsePoolOfEnvironment(); }
  void TearDown() override {
    if (&fakecuda_reset != nullptr) fakecuda_reset(nullptr);
  }
};
const testing::Environment* const environment =
    testing::AddGlobalTestEnvironment(new CudaEnvironment);

}  // namespace
}  // namespace caffe2rt::test
