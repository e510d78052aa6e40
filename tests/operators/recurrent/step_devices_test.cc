// Which device a step net gets, and which of its inputs are renamed.
#include <gtest/gtest.h>

#include "operators/recurrent/step_arguments.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::step_devices_test {
namespace {

struct StepNetDevice {
  const char* name;
  const char* of_operator;  // fields of the operator
  const char* of_net;       // fields of the step net
  const char* want;         // device of the net that is read, as text; "" if it states none
};

std::string DeviceTextOf(const NetDef& net) {
  return net.has_device_option() ? net.device_option().ShortDebugString() : "";
}

TEST(StepDevicesTest, AStepNetWithoutADeviceRunsOnThatOfItsOperator) {
  const std::string op = "op { type: 'Relu' input: 'x' output: 'y' ";
  const std::string on_cuda = "device_option { device_type: 1 device_id: 3 random_seed: 5 }";
  const std::string placed_op = op + "device_option { device_type: 6 } }";
  const std::string several = op + "} " + placed_op;
  const StepNetDevice rows[] = {
      {"a number", on_cuda.c_str(), "", "device_type: 1 device_id: 3"},
      {"no number", "device_option { device_type: 1 }", "", "device_type: 1"},
      {"CPU", "device_option { device_type: 0 device_id: 0 }", "", ""},
      {"none", "", "", ""},
      {"a device of its own", on_cuda.c_str(), "device_option { device_type: 6 }",
       "device_type: 6"},
      {"the CPU of its own", on_cuda.c_str(), "device_option { device_type: 0 }", "device_type: 0"},
      {"one of an operator", on_cuda.c_str(), placed_op.c_str(), ""},
      {"one of the last operator", on_cuda.c_str(), several.c_str(), ""},
  };
  for (const StepNetDevice& row : rows) {
    SCOPED_TRACE(row.name);
    const NetDef net = ParseNet(MakeString("name: 'step' ", row.of_net));
    for (const bool as_text : {false, true}) {
      OperatorDef def = ParseOp(MakeString("type: 'RecurrentNetwork' ", row.of_operator));
      Argument* const arg = def.add_arg();
      arg->set_name("step_net");
      if (as_text) {
        arg->set_s(net.DebugString());
      } else {
        *arg->mutable_n() = net;
      }
      EXPECT_EQ(DeviceTextOf(ReadStepNet(def, kStepNet)), row.want) << as_text;
    }
  }
}

// Names that the net reads from the workspace are renamed; those that it writes, and those of links, are its own.
TEST(StepDevicesTest, RenamesWhatTheStepNetReadsFromOutside) {
  const OperatorDef def = ParseOp(
      "type: 'RecurrentNetwork' arg { name: 'w.rename' s: 'scope/w' } arg { name: 'h.rename' s: "
      "'no' } "
      "arg { name: 'y.rename' s: 'no' } arg { name: 'back.rename' s: 'no' } "
      "arg { name: '.rename' s: 'no' } arg { name: 'v.rename' i: 3 } "
      "arg { name: 'link_internal' strings: 'h' } arg { name: 'backward_link_internal' strings: "
      "'back' } "
      "arg { name: 'step_net' n { name: 'step' external_input: 'w' external_input: 'h' "
      "external_input: 'back' external_input: 'v' "
      "op { type: 'FC' input: 'h' input: 'w' input: 'v' output: 'y' } "
      "op { type: 'Sum' input: 'y' input: 'back' input: 'w' output: 'w' } "
      "op { type: 'Relu' input: 'w' output: 'z' } } }");
  const NetDef net = ReadStepNet(def, kStepNet);
  const NetDef want = ParseNet(
      "name: 'step' external_input: 'scope/w' external_input: 'h' external_input: 'back' "
      "external_input: 'v' "
      "op { type: 'FC' input: 'h' input: 'scope/w' input: 'v' output: 'y' } "
      "op { type: 'Sum' input: 'y' input: 'back' input: 'scope/w' output: 'w' } "
      "op { type: 'Relu' input: 'w' output: 'z' }");
  EXPECT_EQ(net.DebugString(), want.DebugString());
}

}  // namespace
}  // namespace caffe2rt::test::step_devices_test
