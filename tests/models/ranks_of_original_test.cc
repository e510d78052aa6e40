// Nets of the original's data_parallel_model on 2, 3 and 4 ranks, unchanged, against the losses that the
// original computed (data_parallel_lenet/record.py). Each rank is a thread with a workspace of its own.

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/io/proto_file.h"
#include "caffe2_core/runtime/workspace.h"
#include "caffe2_core/tensor/tensor.h"
#include "operators/distributed/collective_engine.h"
#include "tests/support/shared.h"
#include "tests/support/temp_dir.h"

extern "C" const caffe2rt::CollectiveEngine* caffe2rt_gloo_engine();

namespace caffe2rt::test::ranks_of_original_test {
namespace {

constexpr int kBatch = 16, kSteps = 20, kStepsOfEpoch = 5;

struct Parameter {
  const char* name;
  std::vector<int64_t> dims;
  float scale;
};

const std::vector<Parameter>& Parameters() {
  static const std::vector<Parameter> parameters = {
      {"conv1_w", {20, 1, 5, 5}, 0.4f},  {"conv1_b", {20}, 0.1f},
      {"conv2_w", {50, 20, 5, 5}, 0.1f}, {"conv2_b", {50}, 0.1f},
      {"fc3_w", {500, 800}, 0.08f},      {"fc3_b", {500}, 0.1f},
      {"pred_w", {10, 500}, 0.1f},       {"pred_b", {10}, 0.1f}};
  return parameters;
}

// record.py's sequence of numbers in [-0.5, 0.5).
std::vector<float> Noise(int64_t count, uint32_t seed) {
  std::vector<float> values;
  uint32_t x = seed;
  for (int64_t i = 0; i < count; ++i) {
    x = x * 1664525u + 1013904223u;
    values.push_back(static_cast<float>(x >> 8) / 16777216.0f - 0.5f);
  }
  return values;
}

template <class T>
void Feed(Workspace* ws, const std::string& name, const std::vector<int64_t>& dims,
          const std::vector<T>& values) {
  Tensor* const tensor = ws->CreateBlob("cpu_0/" + name)->GetMutableTensor(CPU);
  tensor->Resize(dims);
  std::copy(values.begin(), values.end(), tensor->mutable_data<T>());
}

void FeedBatch(Workspace* ws, int step, int size, int rank) {
  const int seed = 1000 + step * size + rank;
  std::vector<float> data = Noise(kBatch * 784, static_cast<uint32_t>(seed));
  std::vector<int32_t> labels;
  for (int i = 0; i < kBatch; ++i) {
    labels.push_back((i * 7 + seed) % 10);
    for (int at = 0; at < 3 * 28; ++at)
      data[static_cast<size_t>(i * 784 + 2 * labels.back() * 28 + at)] += 0.5f;
  }
  Feed(ws, "data", {kBatch, 1, 28, 28}, data);
  Feed(ws, "label", {kBatch}, labels);
}

NetDef Recorded(const std::string& name) {
  NetDef net;
  LoadProto(SourcePath("tests/models/data_parallel_lenet/" + name + ".pbtxt"), &net);
  return net;
}

// The net as the original writes it for another rank.
NetDef ForRank(NetDef net, int size, int rank) {
  for (OperatorDef& op : *net.mutable_op()) {
    for (Argument& arg : *op.mutable_arg()) {
      if (op.type() == "CreateCommonWorld" && arg.name() == "rank") arg.set_i(rank);
      if (op.type() == "CreateCommonWorld" && arg.name() == "size") arg.set_i(size);
      if (op.type() == "Scale" && arg.f() == 0.5f) arg.set_f(1.0f / static_cast<float>(size));
    }
  }
  return net;
}

std::vector<float> FirstWeights(Workspace* ws) {
  const auto& tensor = ws->GetBlob("cpu_0/conv1_w")->Get<Tensor>();
  return {tensor.data<float>(), tensor.data<float>() + tensor.numel()};
}

struct RankResult {
  std::vector<float> losses, trained, synchronized;
};

RankResult Train(int size, int rank, const std::string& store) {
  Workspace ws;
  ws.RunOperatorOnce(
      CreateOperatorDef("FileStoreHandlerCreate", "", std::vector<std::string>{}, {"store_handler"},
                        {MakeArgument("path", store), MakeArgument("prefix", std::string("run"))}));
  FeedBatch(&ws, 0, size, rank);
  RankResult result;
  CAFFE_ENFORCE(ws.RunNetOnce(ForRank(Recorded("init"), size, rank)), "the init net failed");
  uint32_t number = 0;
  for (const Parameter& parameter : Parameters()) {
    const int64_t count = std::accumulate(parameter.dims.begin(), parameter.dims.end(), int64_t{1},
                                          std::multiplies<int64_t>());
    std::vector<float> values = Noise(count, number++);
    for (float& value : values) value *= parameter.scale;
    Feed(&ws, parameter.name, parameter.dims, values);
  }
  CAFFE_ENFORCE(ws.RunNetOnce(ForRank(Recorded("barrier_init_net"), size, rank)),
                "the net that creates the world of barriers failed");
  const NetDef barrier = Recorded("barrier_net");
  ws.CreateNet(barrier);
  const NetDef train = ForRank(Recorded("train"), size, rank);
  ws.CreateNet(train);
  for (int step = 0; step < kSteps; ++step) {
    if (step % kStepsOfEpoch == 0) CAFFE_ENFORCE(ws.RunNet(barrier.name()), "the barrier failed");
    FeedBatch(&ws, step, size, rank);
    CAFFE_ENFORCE(ws.RunNet(train.name()), "the train net failed");
    result.losses.push_back(*ws.GetBlob("cpu_0/loss")->Get<Tensor>().data<float>());
  }
  result.trained = FirstWeights(&ws);
  if (rank > 0) Feed(&ws, "conv1_w", {20, 1, 5, 5}, std::vector<float>(500, 0.0f));
  CAFFE_ENFORCE(ws.RunNetOnce(Recorded("checkpoint_net")), "the net of broadcasts failed");
  result.synchronized = FirstWeights(&ws);
  return result;
}

std::map<std::pair<int, int>, std::vector<float>> LossesOfOriginal() {
  std::map<std::pair<int, int>, std::vector<float>> all;
  std::ifstream file(SourcePath("tests/models/data_parallel_lenet/losses.txt"));
  int size = 0, rank = 0;
  while (file >> size >> rank) {
    std::vector<float>& losses = all[{size, rank}];
    losses.resize(kSteps);
    for (float& loss : losses) file >> loss;
  }
  return all;
}

class RanksOfOriginalTest : public testing::TestWithParam<int> {};

TEST_P(RanksOfOriginalTest, HaveTheLossesOfTheOriginal) {
  RegisterCollectiveEngine("GLOO", caffe2rt_gloo_engine());
  const int size = GetParam();
  const TempDir dir;
  std::vector<RankResult> results(static_cast<size_t>(size));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      try {
        results[static_cast<size_t>(rank)] = Train(size, rank, dir.path(""));
      } catch (const std::exception& error) {
        ADD_FAILURE() << "rank " << rank << ": " << error.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const auto original = LossesOfOriginal();
  constexpr float kMost = 1e-4f;
  for (int rank = 0; rank < size; ++rank) {
    const RankResult& result = results[static_cast<size_t>(rank)];
    ASSERT_EQ(result.losses.size(), static_cast<size_t>(kSteps));
    for (int step = 0; step < kSteps; ++step) {
      EXPECT_NEAR(result.losses[static_cast<size_t>(step)],
                  original.at({size, rank})[static_cast<size_t>(step)], kMost)
          << "rank " << rank << ", step " << step;
    }
    EXPECT_EQ(result.trained, results[0].trained);
    EXPECT_EQ(result.synchronized, results[0].trained);
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, RanksOfOriginalTest, testing::Values(2, 3, 4));

}  // namespace
}  // namespace caffe2rt::test::ranks_of_original_test
