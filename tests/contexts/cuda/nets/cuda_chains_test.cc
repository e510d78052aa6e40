// Nets with CUDA whose chains on the CPU run on several threads.
#include <atomic>
#include <set>
#include <thread>

#include "caffe2_core/base/mutex.h"
#include "caffe2_core/base/thread_pool.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "tests/contexts/cuda/nets/cuda_net_testing.h"
#include "tests/contexts/mixed_nets.h"
#include "tests/support/wait_for.h"

namespace caffe2rt::test::cuda_chains_test {
namespace {

// Waits until two of them run at the same time.
std::atomic<int> g_arrived{0};
class ChainsMeetOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;
  bool RunOnDevice() override {
    ++g_arrived;
    return WaitFor([] { return g_arrived >= 2; });
  }
};
REGISTER_CPU_OPERATOR(ChainsMeet, ChainsMeetOp);
OPERATOR_SCHEMA(ChainsMeet).NumInputs(1).NumOutputs(1).AllowInplace({{0, 0}});

class CudaChainsTest : public CudaNetTest {
 protected:
  CudaChainsTest() { SetThreadPool({.num_threads = 2, .back_off = false}); }
  ~CudaChainsTest() override { SetThreadPool({}); }
};

// The streams of CUDA overlap as in a net without the CPU: one waits for the other before the join, and
// the host waits once.
TEST_F(CudaChainsTest, ChainsOfTheCpuRunTogetherBesideThoseOfCuda) {
  Workspace ws;
  FeedCuda(&ws, "x", {2}, {-1, 2});
  for (const char* blob : {"p", "q"}) Feed<float>(&ws, blob, {1}, {1});
  ws.CreateNet(ParseNet(R"(name: "n" type: "async_scheduling"
    op { type: "Relu" input: "x" output: "a" device_option { device_type: 1 } }
    op { type: "Negative" input: "x" output: "b" device_option { device_type: 1 } }
    op { type: "Add" input: "a" input: "b" output: "c" device_option { device_type: 1 } }
    op { type: "ChainsMeet" input: "p" output: "p" }
    op { type: "ChainsMeet" input: "q" output: "q" })"));
  for (int run = 0; run < 3; ++run) {
    g_arrived = 0;
    fakecuda_reset_calls();
    ASSERT_TRUE(ws.RunNet("n"));
    EXPECT_EQ(g_arrived, 2);
    EXPECT_EQ(fakecuda_calls("cudaStreamSynchronize"), 1);
    EXPECT_EQ(fakecuda_calls("cudaStreamWaitEvent"), 1);
    EXPECT_EQ(FetchCuda(ws, "c"), (std::vector<float>{1, 0}));
  }
}

TEST_F(CudaChainsTest, RandomNetsGiveTheBytesOfSimple) {
  ExpectMixedNetsGiveTheBytesOfSimple(CUDA, NumCudaDevices() > 1 ? 2 : 1);
  CaffeCudaSetDevice(0);
}

}  // namespace
}  // namespace caffe2rt::test::cuda_chains_test
