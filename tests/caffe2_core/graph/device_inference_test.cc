#include "caffe2_core/graph/device_inference.h"

#include "caffe2_core/runtime/operator_registry.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::device_inference_test {
namespace {

using ::testing::ElementsAre;

// Returns the devices of the inputs, then those of the outputs, for example "CUDA 1, | CPU, ".
std::string PlacesOf(const std::string& text) {
  const auto [inputs, outputs] = InferOpInputOutputDevice(test::ParseOp(text));
  std::string places;
  for (const DeviceOption& device : inputs) places += PlaceName(PlaceOf(device)) + ", ";
  places += "| ";
  for (const DeviceOption& device : outputs) places += PlaceName(PlaceOf(device)) + ", ";
  return places;
}

TEST(DeviceInferenceTest, OperatorWithoutASchemaIsAllOnItsDevice) {
  EXPECT_EQ(PlacesOf(R"(type: "Unheard" input: "a" input: "b" output: "c"
                        device_option { device_type: 1 device_id: 3 })"),
            "CUDA 3, CUDA 3, | CUDA 3, ");
  EXPECT_EQ(PlacesOf(R"(type: "Unheard" input: "a" output: "c")"), "CPU, | CPU, ");
}

TEST(DeviceInferenceTest, CopiesCross) {
  const std::string rest =
      R"( input: "a" output: "b" device_option { device_type: 1 device_id: 1 })";
  EXPECT_EQ(PlacesOf(R"(type: "CopyCPUToGPU")" + rest), "CPU, | CUDA 1, ");
  EXPECT_EQ(PlacesOf(R"(type: "CopyFromCPUInput")" + rest), "CPU, | CUDA 1, ");
  EXPECT_EQ(PlacesOf(R"(type: "CopyGPUToCPU")" + rest), "CUDA 1, | CPU, ");
  EXPECT_EQ(PlacesOf(R"(type: "EnsureCPUOutput")" + rest), "CUDA 1, | CPU, ");
  EXPECT_EQ(PlacesOf(R"(type: "Copy")" + rest), "CUDA 1, | CUDA 1, ");
}

OPERATOR_SCHEMA(DeviceInferenceTestLengths)
    .NumInputs(2)
    .NumOutputs(1, 2)
    .DeviceInferenceFunction(OnCPU({1}, {1}));
OPERATOR_SCHEMA(DeviceInferenceTestWrong)
    .NumInputs(2)
    .NumOutputs(1)
    .DeviceInferenceFunction([](const OperatorDef&) {
      return std::pair<std::vector<DeviceOption>, std::vector<DeviceOption>>();
    });

TEST(DeviceInferenceTest, SchemaDeclaresWhatIsOnTheCpu) {
  EXPECT_EQ(PlacesOf(R"(type: "DeviceInferenceTestLengths" input: "a" input: "b" output: "c"
                        device_option { device_type: 1 })"),
            "CUDA 0, CPU, | CUDA 0, ");
  EXPECT_EQ(PlacesOf(R"(type: "DeviceInferenceTestLengths" input: "a" input: "b" output: "c"
                        output: "d" device_option { device_type: 1 })"),
            "CUDA 0, CPU, | CUDA 0, CPU, ");
}

// Whether the documentation of an input or output states that it is on the CPU on every device.
bool IsDocumentedOnCpu(const OpSchema::NamedDoc& doc) {
  return doc.doc.find("on the CPU") != std::string::npos &&
         doc.doc.find("on the CPU or") == std::string::npos;
}

// An operator on CUDA with all inputs and outputs that its schema documents.
OperatorDef DocumentedCall(const std::string& type, const OpSchema& schema) {
  OperatorDef def;
  def.set_type(type);
  def.mutable_device_option()->set_device_type(CUDA);
  for (size_t i = 0; i < schema.input_docs().size(); ++i) def.add_input(MakeString("i", i));
  for (size_t i = 0; i < schema.output_docs().size(); ++i) def.add_output(MakeString("o", i));
  return def;
}

TEST(DeviceInferenceTest, WhatBuiltInOperatorsDocumentOnTheCpuIsThere) {
  int found = 0;
  for (const std::string& type : GetRegisteredOperators()) {
    const OpSchema* const schema = OpSchemaRegistry::Schema(type);
    if (schema == nullptr) continue;
    SCOPED_TRACE(type);
    const auto [inputs, outputs] = InferOpInputOutputDevice(DocumentedCall(type, *schema));
    for (const auto& [docs, devices] :
         {std::pair(&schema->input_docs(), &inputs), std::pair(&schema->output_docs(), &outputs)}) {
      for (size_t i = 0; i < docs->size(); ++i) {
        if (!IsDocumentedOnCpu((*docs)[i])) continue;
        ++found;
        EXPECT_EQ(devices->at(i).device_type(), CPU) << (*docs)[i].name;
      }
    }
  }
  EXPECT_GE(found, 15);
}

TEST(DeviceInferenceTest, WrongNumberOfDevicesIsAnError) {
  test::ExpectThrows(
      [] { PlacesOf(R"(type: "DeviceInferenceTestWrong" input: "a" input: "b" output: "c")"); },
      "device inference of operator type \"DeviceInferenceTestWrong\" returns 0 devices for "
      "inputs");
}

TEST(DeviceInferenceTest, CpusAreOnePlaceAndNoIdIsTheFirstDevice) {
  DeviceOption option;
  option.set_numa_node_id(1);
  option.set_device_id(2);
  EXPECT_EQ(PlaceOf(option), DevicePlace{});
  option.Clear();
  option.set_device_type(1);
  EXPECT_EQ(PlaceOf(option), (DevicePlace{.type = 1, .id = 0}));
}

}  // namespace
}  // namespace caffe2rt::device_inference_test
