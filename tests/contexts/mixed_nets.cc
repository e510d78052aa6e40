#include "tests/contexts/mixed_nets.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <thread>

#include "caffe2_core/base/thread_pool.h"
#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/runtime/workspace.h"
#include "contexts/cpu/cpu_context.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test {
namespace {

constexpr int kBlobs = 10;
std::atomic<bool> g_fails{false};

// Slow, and fails while g_fails is set. Its output is its input, in place.
class MixedNetSlowOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;
  bool RunOnDevice() override {
    std::this_thread::sleep_for(std::chrono::microseconds(20));
    CAFFE_ENFORCE(!g_fails, "no luck");
    return true;
  }
};
REGISTER_CPU_OPERATOR(MixedNetSlow, MixedNetSlowOp);
OPERATOR_SCHEMA(MixedNetSlow).NumInputs(1).NumOutputs(1).AllowInplace({{0, 0}});

int NumberOf(const char* variable, int otherwise) {
  const char* const number = std::getenv(variable);
  return number != nullptr ? std::atoi(number) : otherwise;
}

std::string BlobName(int number) { return MakeString("b", number); }

std::string FedName(int number) { return MakeString("f", number); }

void FeedBlobs(Workspace* ws) {
  for (int i = 0; i < kBlobs; ++i) {
    FeedRandom(ws, FedName(i), {8}, -1, 1, static_cast<uint32_t>(i));
  }
}

std::string BytesOfBlobs(const Workspace& ws) {
  std::string bytes;
  for (int i = 0; i < kBlobs; ++i) {
    const Tensor tensor(ws.GetBlob(BlobName(i))->Get<Tensor>(), CPU);
    bytes.append(static_cast<const char*>(tensor.raw_data()), tensor.nbytes());
  }
  return bytes;
}

// Even numbers stand for the CPU.
void Place(int number, DeviceType device, int devices, OperatorDef* op) {
  if (number % 2 == 0) return;
  op->mutable_device_option()->set_device_type(device);
  op->mutable_device_option()->set_device_id(number / 2 % devices);
}

NetDef RandomNet(uint32_t seed, DeviceType device, int devices, bool blobs_move, bool* has_slow) {
  std::mt19937 random(seed);
  const auto below = [&random](int end) {
    return static_cast<int>(random() % static_cast<uint32_t>(end));
  };
  NetDef net;
  net.set_name("mixed");
  net.set_num_workers(3);
  const auto add = [&](const std::string& type, const std::string& input, int output) {
    OperatorDef* const op = net.add_op();
    op->set_type(type);
    op->add_input(input);
    op->add_output(BlobName(output));
    if (type == "MixedNetSlow" && blobs_move) return op;
    Place(blobs_move ? below(8) : output, device, devices, op);
    return op;
  };
  for (int i = 0; i < kBlobs; ++i) {
    net.add_external_input(FedName(i));
    net.add_external_output(BlobName(i));
    add("Copy", FedName(i), i);
  }
  for (int i = below(56) + 5; i > 0; --i) {
    const int read = below(kBlobs), kind = below(8);
    const bool slow = kind == 0 && (read % 2 == 0 || blobs_move);
    *has_slow = *has_slow || slow;
    const bool in_place = slow || (kind == 1 && below(2) == 0);
    const int written = in_place ? read : (read + 1 + below(kBlobs - 1)) % kBlobs;
    OperatorDef* const op = add(slow       ? "MixedNetSlow"
                                : kind < 3 ? "Relu"
                                : kind < 6 ? "Add"
                                           : "Copy",
                                BlobName(read), written);
    if (op->type() == "Add") op->add_input(BlobName(below(kBlobs)));
    if (below(8) == 0) op->add_control_input(BlobName(below(kBlobs)));
  }
  return net;
}

}  // namespace

void ExpectMixedNetsGiveTheBytesOfSimple(DeviceType device, int devices, bool blobs_move) {
  const int nets = NumberOf("CAFFE2_TEST_RANDOM_NETS", 20);
  const int runs = NumberOf("CAFFE2_TEST_RANDOM_RUNS", 3);
  SetThreadPool({.num_threads = 3, .back_off = false});
  for (uint32_t seed = 0; seed < static_cast<uint32_t>(nets); ++seed) {
    bool has_slow = false;
    NetDef net = RandomNet(seed, device, devices, blobs_move, &has_slow);
    const auto bytes_on = [&](const char* type, bool on_cpu = false) {
      net.set_type(type);
      NetDef def = net;
      for (OperatorDef& op : *def.mutable_op()) {
        if (on_cpu) op.clear_device_option();
      }
      Workspace ws;
      FeedBlobs(&ws);
      const auto created = CreateNet(def, &ws);
      if (has_slow && seed % 3 == 0) {
        g_fails = true;
        EXPECT_THROW(created->Run(), EnforceNotMet);
        g_fails = false;
      }
      for (int run = 0; run < runs; ++run) {
        EXPECT_TRUE(created->Run());
      }
      return BytesOfBlobs(ws);
    };
    const std::string want = bytes_on("simple");
    ASSERT_EQ(bytes_on("simple", /*on_cpu=*/true), want) << "seed " << seed;
    for (const char* type : {"async_scheduling", "dag", "prof_dag", "async_dag", "async_polling",
                             "parallel", "async_simple"}) {
      ASSERT_EQ(bytes_on(type), want) << type << " seed " << seed << "\n" << net.DebugString();
    }
  }
  SetThreadPool({});
}

}  // namespace caffe2rt::test
