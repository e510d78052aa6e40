// RecurrentNetwork and its gradient on CUDA, compared with the CPU.
#include "caffe2_core/graph/backward_pass.h"
#include "caffe2_core/runtime/net.h"
#include "tests/operators/recurrent/recurrent_nets.h"
#include "tests/support/devices_agree.h"

namespace caffe2rt::test::recurrent_cuda_test {
namespace {

using RecurrentCudaTest = OnDeviceTest;

// The network and its gradient, on one device.
NetDef TrainingNet(int device) {
  NetDef net;
  net.set_name(MakeString("train_", device));
  OperatorDef* const op = net.add_op();
  *op = ParseOp(LstmNetwork("arg { name: 'outputs_with_grads' ints: 0 ints: 3 }"));
  op->mutable_device_option()->set_device_type(device);
  Argument* const step = GetMutableArgument("step_net", false, op);
  step->mutable_n()->mutable_device_option()->set_device_type(device);
  GradientStart start = {{"h_all", {}}, {"c_last", {}}};
  AddGradientOperators(&net, start);
  for (OperatorDef& of_net : *net.mutable_op()) {
    of_net.mutable_device_option()->set_device_type(device);
  }
  return net;
}

TEST_F(RecurrentCudaTest, TrainsALongShortTermMemoryAsTheCpuDoes) {
  Workspace cpu, cuda;
  for (Workspace* ws : {&cpu, &cuda}) {
    FeedRandom(ws, "x", {5, 3, 32}, -1, 1, 1);
    FeedRandom(ws, "h0", {1, 3, 8}, -1, 1, 2);
    FeedRandom(ws, "c0", {8}, -1, 1, 3);
    FeedRandom(ws, "w", {32, 8}, -1, 1, 4);
    FeedRandom(ws, "b", {32}, -1, 1, 5);
    Feed<int32_t>(ws, "lengths", {3}, {5, 2, 3});
  }
  for (const char* name : {"x", "h0", "c0", "w", "b", "lengths"}) {
    Tensor on_device(CUDA);
    on_device.CopyFrom(cuda.GetBlob(name)->Get<Tensor>());
    *cuda.GetBlob(name)->GetMutableTensor(CUDA) = on_device;
  }
  NetBase* const on_cpu = cpu.CreateNet(TrainingNet(CPU));
  NetBase* const on_cuda = cuda.CreateNet(TrainingNet(CUDA));
  for (int run = 0; run < 3; ++run) {
    ASSERT_TRUE(on_cpu->Run());
    ASSERT_TRUE(on_cuda->Run());
    for (const char* name : {"h_all", "h_last", "c_all", "c_last", "x_grad", "w_grad", "b_grad",
                             "h0_grad", "c0_grad"}) {
      const Tensor& got = cuda.GetBlob(name)->Get<Tensor>();
      ASSERT_EQ(got.GetDeviceType(), CUDA) << name;
      cpu.CreateBlob("got")->GetMutableTensor(CPU)->CopyFrom(got);
      ExpectTensor<float>(cpu, "got", DimsOf(cpu, name), Fetch<float>(cpu, name), 1e-5);
    }
  }
}

// The step net finds what it reads under the names of the copies.
TEST_F(RecurrentCudaTest, ReadsCopiesOfInputsOnTheCpu) {
  FeedRandom(&ws_, "x", {4, 2, 12}, -1, 1, 1);
  FeedRandom(&ws_, "h0", {1, 2, 3}, -1, 1, 2);
  FeedRandom(&ws_, "c0", {1, 2, 3}, -1, 1, 3);
  FeedRandom(&ws_, "w", {12, 3}, -1, 1, 4);
  FeedRandom(&ws_, "b", {12}, -1, 1, 5);
  Feed<int32_t>(&ws_, "lengths", {2}, {4, 2});
  NetDef net;
  net.set_name("cpu");
  *net.add_op() = ParseOp(LstmNetwork("arg { name: 'outputs_with_grads' ints: 0 }"));
  AddGradientOperators(&net, {{"h_all", {}}});
  ASSERT_TRUE(ws_.RunNetOnce(net));
  const std::vector<std::string> names = {"h_all", "c_last", "x_grad", "w_grad", "h0_grad"};
  std::vector<std::vector<float>> want;
  for (const std::string& name : names) want.push_back(Fetch<float>(ws_, name));
  for (OperatorDef& op : *net.mutable_op()) op.mutable_device_option()->set_device_type(CUDA);
  net.set_name("cuda");
  GetMutableArgument("inject_copies", true, &net)->set_i(1);
  Workspace cuda;
  for (const char* name : {"x", "h0", "c0", "w", "b", "lengths"}) {
    cuda.CreateBlob(name)->GetMutableTensor(CPU)->CopyFrom(ws_.GetBlob(name)->Get<Tensor>());
  }
  NetBase* const on_cuda = cuda.CreateNet(net);
  ASSERT_TRUE(on_cuda->Run());
  ASSERT_TRUE(on_cuda->Run());
  for (size_t i = 0; i < names.size(); ++i) {
    const Tensor& got = cuda.GetBlob(names[i])->Get<Tensor>();
    ASSERT_EQ(got.GetDeviceType(), CUDA) << names[i];
    ws_.CreateBlob("got")->GetMutableTensor(CPU)->CopyFrom(got);
    ExpectTensor<float>(ws_, "got", DimsOf(ws_, names[i]), want[i], 1e-5);
  }
}

TEST_F(RecurrentCudaTest, CopiesTheBlobsOfTheStepsToTheCpu) {
  FeedRange<float>(&ws_, "x", {2, 1, 1}, 1);
  Feed<float>(&ws_, "init", {1, 1, 1}, {1});
  for (const char* name : {"x", "init"}) {
    Tensor on_device(CUDA);
    on_device.CopyFrom(ws_.GetBlob(name)->Get<Tensor>());
    *ws_.GetBlob(name)->GetMutableTensor(CUDA) = on_device;
  }
  OperatorDef network = ParseOp(SumMulNetwork());
  network.mutable_device_option()->set_device_type(CUDA);
  OperatorDef fetcher =
      ParseOp(R"(type: "RecurrentNetworkBlobFetcher" input: "steps" output: "names")");
  fetcher.mutable_device_option()->set_device_type(CUDA);
  ASSERT_TRUE(ws_.RunOperatorOnce(network));
  ASSERT_TRUE(ws_.RunOperatorOnce(fetcher));
  ExpectTensor<float>(ws_, "rnn_cur1", {1, 1, 1}, {8});
  EXPECT_EQ(ws_.GetBlob("names")->Get<Tensor>().numel(), 10);
}

}  // namespace
}  // namespace caffe2rt::test::recurrent_cuda_test
