// The net argument cuda_graph on CUDA.
#include <thread>

#include "tests/contexts/cuda/nets/cuda_net_testing.h"

namespace caffe2rt::test::cuda_net_graph_test {
namespace {

class CudaNetGraphTest : public CudaNetTest {};

constexpr const char* kNet = R"(
  name: "x" device_option { device_type: 1 }
  op { type: "Relu" input: "x" output: "a" }
  op { type: "Tanh" input: "a" output: "b" }
  op { type: "Sigmoid" input: "b" output: "c" }
  op { type: "Tanh" input: "x" output: "x2" }
  op { type: "Relu" input: "c" output: "c" })";

NetDef Named(const std::string& name) {
  NetDef net = ParseNet(kNet);
  net.set_name(name);
  return net;
}

NetDef WithGraph(NetDef net) {
  *net.add_arg() = MakeArgument<int>("cuda_graph", 1);
  return net;
}

TEST_F(CudaNetGraphTest, ReplayGivesWhatAPlainRunGives) {
  Workspace ws;
  FeedCuda(&ws, "x", {5}, RandomValues(5));
  ws.CreateNet(Named("plain"));
  ws.CreateNet(WithGraph(Named("graph")));
  for (int run = 1; run <= 6; ++run) {
    FeedCuda(&ws, "x", {5}, RandomValues(5, -2, 2, static_cast<uint32_t>(run)));
    ASSERT_TRUE(ws.RunNet("plain"));
    const std::vector<float> want = FetchCuda(ws, "c"), want2 = FetchCuda(ws, "x2");
    FeedCuda(&ws, "c", {5}, {9, 9, 9, 9, 9});
    fakecuda_reset_calls();
    ASSERT_TRUE(ws.RunNet("graph"));
    EXPECT_EQ(fakecuda_calls("cudaGraphLaunch"), run >= 3 ? 1 : 0) << run;
    EXPECT_EQ(fakecuda_calls("kernel"), run > 3 ? 0 : 5) << run;  // passed to CUDA one by one
    EXPECT_EQ(FetchCuda(ws, "c"), want);
    EXPECT_EQ(FetchCuda(ws, "x2"), want2);
  }
}

TEST_F(CudaNetGraphTest, CapturesAgainIfTheShapeChanges) {
  Workspace ws;
  FeedCuda(&ws, "x", {5}, RandomValues(5));
  ws.CreateNet(Named("plain"));
  ws.CreateNet(WithGraph(Named("graph")));
  for (int run = 0; run < 4; ++run) ASSERT_TRUE(ws.RunNet("graph"));
  FeedCuda(&ws, "x", {3, 700}, RandomValues(2100));
  ASSERT_TRUE(ws.RunNet("plain"));
  const std::vector<float> want = FetchCuda(ws, "c");
  for (int run = 1; run <= 4; ++run) {
    fakecuda_reset_calls();
    ASSERT_TRUE(ws.RunNet("graph"));
    EXPECT_EQ(fakecuda_calls("cudaGraphLaunch"), run >= 3 ? 1 : 0) << run;
    EXPECT_EQ(FetchCuda(ws, "c"), want);
  }
}

TEST_F(CudaNetGraphTest, CopiesOfAMixedNetStayOutside) {
  Workspace ws;
  Feed<float>(&ws, "x", {3}, {-1, 2, 3});
  NetDef net = ParseNet(R"(
    name: "mixed" external_input: "x" external_output: "z"
    op { type: "Relu" input: "x" output: "a" device_option { device_type: 1 } }
    op { type: "Relu" input: "a" output: "b" device_option { device_type: 1 } }
    op { type: "Add" input: "b" input: "x" output: "z" })");
  ws.CreateNet(WithGraph(net));
  for (int run = 1; run <= 5; ++run) {
    const float top = static_cast<float>(run);
    Feed<float>(&ws, "x", {3}, {-1, 2, top});
    fakecuda_reset_calls();
    ASSERT_TRUE(ws.RunNet("mixed"));
    EXPECT_EQ(fakecuda_calls("cudaGraphLaunch"), run >= 3 ? 1 : 0) << run;
    ExpectTensor<float>(ws, "z", {3}, {-1, 4, 2 * top});
  }
}

TEST_F(CudaNetGraphTest, SteadyStateIsOneLaunchAndOneWait) {
  Workspace ws;
  FeedCuda(&ws, "x", {5}, RandomValues(5));
  ws.CreateNet(WithGraph(Named("graph")));
  for (int run = 0; run < 3; ++run) ASSERT_TRUE(ws.RunNet("graph"));
  fakecuda_reset_calls();
  for (int run = 0; run < 3; ++run) ASSERT_TRUE(ws.RunNet("graph"));
  EXPECT_EQ(fakecuda_calls("cudaGraphLaunch"), 3);
  EXPECT_EQ(fakecuda_calls("cudaStreamSynchronize"), 3);
  EXPECT_EQ(fakecuda_calls("cudaMalloc") + fakecuda_calls("cudaEventCreateWithFlags") +
                fakecuda_calls("cudaGraphInstantiate"),
            0);
}

// Slice keeps copies of its bounds on the CPU as long as nothing writes them.
TEST_F(CudaNetGraphTest, TheHostReadsWhatAReplayHasWritten) {
  Workspace ws;
  const auto feed = [&](const std::string& name, int32_t value) {
    Tensor host({1}, CPU);
    *host.mutable_data<int32_t>() = value;
    ws.CreateBlob(name)->GetMutableTensor(CUDA)->CopyFrom(host);
  };
  feed("first", 0);
  feed("zero", 0);
  feed("two", 2);
  FeedCuda(&ws, "data", {9}, {0, 10, 20, 30, 40, 50, 60, 70, 80});
  ws.CreateNet(WithGraph(ParseNet(R"(
    name: "graph" device_option { device_type: 1 }
    op { type: "Add" input: "first" input: "zero" output: "starts" }
    op { type: "Add" input: "starts" input: "two" output: "ends" }
    op { type: "Slice" input: "data" input: "starts" input: "ends" output: "y" })")));
  for (int run = 1; run <= 7; ++run) {
    feed("first", run);
    fakecuda_reset_calls();
    ASSERT_TRUE(ws.RunNet("graph"));
    if (run > 4) EXPECT_EQ(fakecuda_calls("cudaGraphLaunch"), 1) << run;
    const float first = 10 * static_cast<float>(run);
    EXPECT_EQ(FetchCuda(ws, "y"), (std::vector<float>{first, first + 10})) << run;
  }
}

// Inputs that alternate between more buffers than graphs are kept.
TEST_F(CudaNetGraphTest, SurvivesOtherAddressesOfItsInput) {
  Workspace ws;
  FeedCuda(&ws, "x", {2}, {-1, 2});
  ws.CreateNet(WithGraph(ParseNet(R"(
    name: "graph" device_option { device_type: 1 }
    op { type: "Relu" input: "x" output: "a" }
    op { type: "Add" input: "a" input: "x" output: "b" })")));
  for (int run = 0; run < 3; ++run) ASSERT_TRUE(ws.RunNet("graph"));
  std::vector<Tensor> buffers;
  for (int i = 0; i < 6; ++i) {
    Tensor host({2}, CPU);
    host.mutable_data<float>()[0] = -1;
    host.mutable_data<float>()[1] = static_cast<float>(i);
    buffers.emplace_back(host, CUDA);
  }
  fakecuda_reset_calls();
  for (int run = 0; run < 18; ++run) {
    const size_t i = static_cast<size_t>(run % 6);
    ws.GetBlob("x")->GetMutable<Tensor>()->ShareData(buffers[i]);
    ASSERT_TRUE(ws.RunNet("graph"));
    EXPECT_EQ(FetchCuda(ws, "b"), (std::vector<float>{-1, 2.f * static_cast<float>(i)})) << run;
  }
  EXPECT_EQ(fakecuda_calls("cudaGraphLaunch"), 18);
  EXPECT_EQ(fakecuda_calls("cudaGraphInstantiate"), 3);  // in addition to the first one
  EXPECT_GT(fakecuda_calls("cudaGraphExecUpdate"), 0);
  fakecuda_reset_calls();
  for (int run = 0; run < 6; ++run) {
    const size_t i = static_cast<size_t>(run % 2);
    ws.GetBlob("x")->GetMutable<Tensor>()->ShareData(buffers[i]);
    ASSERT_TRUE(ws.RunNet("graph"));
  }
  EXPECT_EQ(fakecuda_calls("cudaGraphLaunch"), 6);
  EXPECT_LE(fakecuda_calls("cudaStreamBeginCapture"), 2);
}

TEST_F(CudaNetGraphTest, CapturesAgainIfTf32IsAllowed) {
  Workspace ws;
  FeedCuda(&ws, "x", {5}, RandomValues(5));
  ws.CreateNet(WithGraph(Named("graph")));
  for (int run = 0; run < 3; ++run) ASSERT_TRUE(ws.RunNet("graph"));
  GlobalCudaLibraryOptions().allow_tf32 = true;
  for (int run = 1; run <= 4; ++run) {
    fakecuda_reset_calls();
    ASSERT_TRUE(ws.RunNet("graph"));
    EXPECT_EQ(fakecuda_calls("cudaGraphLaunch"), run >= 3 ? 1 : 0) << run;
  }
  GlobalCudaLibraryOptions().allow_tf32 = false;
}

TEST_F(CudaNetGraphTest, AnotherThreadReplays) {
  Workspace ws;
  FeedCuda(&ws, "x", {2}, {-1, 2});
  ws.CreateNet(WithGraph(ParseNet(R"(
    name: "graph" device_option { device_type: 1 }
    op { type: "Relu" input: "x" output: "a" }
    op { type: "Relu" input: "a" output: "b" })")));
  for (int run = 0; run < 4; ++run) ASSERT_TRUE(ws.RunNet("graph"));
  FeedCuda(&ws, "x", {2}, {5, 6});
  std::thread([&] {
    for (int run = 1; run <= 4; ++run) {
      fakecuda_reset_calls();
      EXPECT_TRUE(ws.RunNet("graph"));
      EXPECT_EQ(fakecuda_calls("cudaGraphLaunch"), 1) << run;
      EXPECT_EQ(cudaStreamQuery(CUDAContext::cuda_stream(0, 0)), cudaSuccess);
    }
  }).join();
  EXPECT_EQ(FetchCuda(ws, "b"), (std::vector<float>{5, 6}));
}

}  // namespace
}  // namespace caffe2rt::test::cuda_net_graph_test
