// Copies between devices: around operators with nets, from the nearest blob, and their options.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "caffe2_core/graph/device_copies.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::device_copy_edges_test {
namespace {

using test::ParseNet;
using ::testing::ElementsAre;

// One line for each operator: "Type(inputs) -> outputs @ device".
std::vector<std::string> CopiedLines(const NetDef& net) {
  std::vector<std::string> lines;
  for (const OperatorDef& op : net.op()) {
    std::string line = op.type() + "(";
    for (const std::string& input : op.input()) line += (line.back() == '(' ? "" : " ") + input;
    line += ") ->";
    for (const std::string& output : op.output()) line += " " + output;
    const DevicePlace place = PlaceOf(op.device_option());
    if (place.type != 0) line += " @ " + PlaceName(place);
    lines.push_back(line);
  }
  return lines;
}

std::vector<std::string> Copied(const std::string& text) {
  return CopiedLines(InjectCrossDeviceCopies(ParseNet(text)));
}

// The condition, and what the nets write without listing it, may be newer on the device.
TEST(DeviceCopyEdgesTest, OperatorsWithNetsFindAllTheirBlobsAtHome) {
  const std::string begin = R"(external_input: "t" external_input: "c" external_input: "x"
      external_output: "z" op { type: "Relu" input: "t" output: "t" device_option { device_type: 1 } } )";
  const auto at_home = [](const std::vector<std::string>& lines) {
    return std::vector<std::string>(lines.begin() + 2, lines.end());
  };
  // Read by the net, written by it, and the condition.
  EXPECT_THAT(at_home(Copied(begin + R"(op { type: "If" input: "c" arg { name: "then_net" n {
                  op { type: "Relu" input: "t" output: "u" } } } })")),
              ElementsAre("CopyGPUToCPU(t_gpu_0) -> t @ CUDA 0", "If(c) ->"));
  EXPECT_THAT(at_home(Copied(begin + R"(op { type: "If" input: "c" arg { name: "then_net" n {
                  op { type: "Relu" input: "x" output: "t" } } } }
                  op { type: "Relu" input: "t" output: "z" device_option { device_type: 1 } })")),
              ElementsAre("CopyGPUToCPU(t_gpu_0) -> t @ CUDA 0", "If(c) ->",
                          "CopyCPUToGPU(t) -> t_gpu_0 @ CUDA 0", "Relu(t_gpu_0) -> z @ CUDA 0"));
  EXPECT_THAT(at_home(Copied(begin + R"(op { type: "If" input: "t" arg { name: "then_net" n {
                  op { type: "Relu" input: "x" output: "u" } } } })")),
              ElementsAre("CopyGPUToCPU(t_gpu_0) -> t @ CUDA 0", "If(t) ->"));
  // What the operator writes first is on its device, which may be that of the net.
  for (const char* devices :
       {R"(device_option { device_type: 1 device_id: 2 } op { type: "If" )",
        R"(device_option { device_type: 1 } op { type: "If"
                                 device_option { device_id: 2 } )",
        R"(op { type: "If" device_option { device_type: 1 device_id: 2 } )"}) {
    const auto lines = Copied(std::string(devices) + R"(input: "c" output: "y"
        arg { name: "then_net" n { op { type: "Relu" input: "x" output: "y" } } } }
        op { type: "Relu" input: "y" output: "z" device_option { device_type: 0 } })");
    EXPECT_EQ(lines[lines.size() - 2], "CopyGPUToCPU(y) -> y_cpu @ CUDA 2") << devices;
  }
}

// A GPU reads what another one has, although there is a copy on the CPU.
TEST(DeviceCopyEdgesTest, CopiesAreMadeFromTheHomeOfABlob) {
  EXPECT_THAT(Copied(R"(
      op { type: "ConstantFill" output: "a" device_option { device_type: 1 device_id: 1 } }
      op { type: "Relu" input: "a" output: "b" }
      op { type: "Relu" input: "a" output: "c" device_option { device_type: 1 device_id: 2 } })"),
              ElementsAre("ConstantFill() -> a @ CUDA 1", "CopyGPUToCPU(a) -> a_cpu @ CUDA 1",
                          "Relu(a_cpu) -> b", "Copy(a) -> a_gpu_2 @ CUDA 2",
                          "Relu(a_gpu_2) -> c @ CUDA 2"));
  // A blob of the CPU that a GPU updated is copied from there.
  EXPECT_THAT(Copied(R"(external_output: "c"
      op { type: "ConstantFill" output: "a" }
      op { type: "Relu" input: "a" output: "a" device_option { device_type: 1 device_id: 1 } }
      op { type: "Relu" input: "a" output: "c" device_option { device_type: 1 device_id: 2 } })"),
              ElementsAre("ConstantFill() -> a", "CopyCPUToGPU(a) -> a_gpu_1 @ CUDA 1",
                          "Relu(a_gpu_1) -> a_gpu_1 @ CUDA 1", "Copy(a_gpu_1) -> a_gpu_2 @ CUDA 2",
                          "Relu(a_gpu_2) -> c @ CUDA 2"));
}

// The caller finds the blob where it was made, on the second GPU.
TEST(DeviceCopyEdgesTest, BlobsOfAGpuReturnToIt) {
  EXPECT_THAT(Copied(R"(external_output: "a"
      op { type: "ConstantFill" output: "a" device_option { device_type: 1 device_id: 2 } }
      op { type: "Relu" input: "a" output: "a" })"),
              ElementsAre("ConstantFill() -> a @ CUDA 2", "CopyGPUToCPU(a) -> a_cpu @ CUDA 2",
                          "Relu(a_cpu) -> a_cpu", "CopyCPUToGPU(a_cpu) -> a @ CUDA 2"));
}

TEST(DeviceCopyEdgesTest, OperatorsWithoutBlobsHaveADeviceToo) {
  const std::string relu = R"(op { type: "Relu" input: "x" output: "y" } )",
                    other = R"(op { type: "T" device_option { device_type: 1 } } )";
  EXPECT_FALSE(HasSeveralDevices(ParseNet(relu)));
  EXPECT_FALSE(HasSeveralDevices(ParseNet(other)));
  EXPECT_TRUE(HasSeveralDevices(ParseNet(relu + other)));
  EXPECT_TRUE(HasSeveralDevices(ParseNet(other + relu)));
  EXPECT_FALSE(HasSeveralDevices(NetDef()));
}

// What the net does not declare may be read by the caller: inputs that it updates, and results.
TEST(DeviceCopyEdgesTest, BlobsReturnUnlessOnlyOthersAreDeclared) {
  const std::string net = R"(
      op { type: "ConstantFill" output: "a" }
      op { type: "Relu" input: "a" output: "a" device_option { device_type: 1 } }
      op { type: "Relu" input: "x" output: "x" device_option { device_type: 1 } }
      op { type: "ConstantFill" output: "y" })";
  const auto returned = [&](const std::string& declared) {
    std::string names;
    const std::vector<std::string> lines = Copied(declared + net);
    for (size_t i = 0; i < lines.size(); ++i) {
      if (lines[i].starts_with("CopyGPUToCPU(a")) names += "a";
      if (lines[i].starts_with("CopyGPUToCPU(x")) names += "x";
    }
    return names;
  };
  const std::string in = R"(external_input: "x" )", out = R"(external_output: "y" )";
  EXPECT_EQ(returned(""), "xa");
  EXPECT_EQ(returned(in), "xa");
  EXPECT_EQ(returned(out), "x");
  EXPECT_EQ(returned(in + out), "x");
  EXPECT_EQ(returned(R"(external_input: "z" )" + out), "");
  EXPECT_EQ(returned(R"(external_input: "z" external_output: "a" )"), "a");
}

// Options besides the type and the id are the operator's own.
TEST(DeviceCopyEdgesTest, CopiesStateTheDeviceOnly) {
  const NetDef net = InjectCrossDeviceCopies(ParseNet(R"(
      op { type: "Relu" input: "x" output: "a"
           device_option { device_type: 1 device_id: 1 random_seed: 7 numa_node_id: 1 } }
      op { type: "Relu" input: "a" output: "b" device_option { random_seed: 8 } })"));
  ASSERT_EQ(net.op_size(), 4);
  EXPECT_EQ(net.op(1).device_option().random_seed(), 7u);
  EXPECT_EQ(net.op(3).device_option().random_seed(), 8u);
  for (const int copy : {0, 2}) {
    DeviceOption want;
    want.set_device_type(1);
    want.set_device_id(1);
    EXPECT_EQ(net.op(copy).device_option().DebugString(), want.DebugString()) << copy;
  }
}

TEST(DeviceCopyEdgesTest, CopiesOfEarlierNetsAreDeclaredOnce) {
  const NetDef first = ParseNet(R"(op { type: "ConstantFill" output: "w" }
      op { type: "Relu" input: "w" output: "a" device_option { device_type: 1 } })");
  const std::string reads = R"(op { type: "Relu" input: "w" output: "y"
                                    device_option { device_type: 1 } })";
  const auto inputs_of = [&](const std::string& declared) {
    const NetDef second = InjectDeviceCopiesAmongNets({first, ParseNet(declared + reads)}).at(1);
    EXPECT_EQ(CopiedLines(second).at(0), "Relu(w_gpu_0) -> y @ CUDA 0");
    return std::vector<std::string>(second.external_input().begin(), second.external_input().end());
  };
  EXPECT_THAT(inputs_of(R"(external_input: "w" )"), ElementsAre("w", "w_gpu_0"));
  EXPECT_THAT(inputs_of(R"(external_input: "w" external_input: "w_gpu_0" )"),
              ElementsAre("w", "w_gpu_0"));
  EXPECT_THAT(inputs_of(""), ElementsAre());
}

// A blob that is no tensor stays where any operator finds it, although operators and nets write it.
TEST(DeviceCopyEdgesTest, BlobsOfAnyDeviceStaySoWhenTheyAreUpdated) {
  const std::string update = R"(op { type: "T" input: "t" output: "t"
                                     device_option { device_type: 1 } } )",
                    nested = R"(op { type: "If" input: "c" device_option { device_type: 1 }
                                     arg { name: "then_net" n { op { type: "T" output: "t" } } } } )",
                    read = R"(op { type: "Relu" input: "t" output: "y" })";
  const auto lines = [&](const std::string& text) {
    BlobDevices blobs;
    blobs.PlaceAnywhere("t");
    DeviceOption gpu;
    gpu.set_device_type(1);
    blobs.Place("c", gpu);
    return CopiedLines(InjectCrossDeviceCopies(ParseNet(text), &blobs));
  };
  EXPECT_THAT(lines(update + read), ElementsAre("T(t) -> t @ CUDA 0", "Relu(t) -> y"));
  EXPECT_THAT(lines(update + update + read),
              ElementsAre("T(t) -> t @ CUDA 0", "T(t) -> t @ CUDA 0", "Relu(t) -> y"));
  EXPECT_THAT(lines(nested + read), ElementsAre("If(c) -> @ CUDA 0", "Relu(t) -> y"));
}

}  // namespace
}  // namespace caffe2rt::device_copy_edges_test
