#pragma once
// Checks that an operator computes on a device what it computes on the CPU. Other tests prove the
// results of the CPU.
//
//   using SoftmaxOnCudaTest = OnDeviceTest;
//   TEST_F(SoftmaxOnCudaTest, AgreesWithTheCpu) {
//     FeedRandom(&ws_, "X", {3, 5});
//     ExpectDevicesAgree(&ws_, R"(type: "Softmax" input: "X" output: "Y")",
//                        {.tolerance = 1e-5, .engines = {"", "CUDNN"}});
//   }

#include <set>
#include <string>
#include <vector>

#include "caffe2_core/device/device_type.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test {

// Skips if the machine has no device of this type. Fails if the program has not registered the type
// (AddTestDevice of device_run.h). Fixtures for other devices than CUDA derive from this one.
class OnDeviceTest : public testing::Test {
 protected:
  explicit OnDeviceTest(DeviceType device = CUDA) : device_(device) {}
  void SetUp() override;

  Workspace ws_;

 private:
  const DeviceType device_;
};

struct Agreement {
  // A float or double may differ by tolerance * max(1, |want|). With tolerance 0 the bytes must be
  // equal, so -0 does not match 0. NaN matches any NaN. For other types the bytes must be equal.
  double tolerance = 0;
  std::vector<std::string> engines = {""};  // every one of them is run on the device
  std::set<std::string> stay = {};          // inputs that stay on the CPU
  std::set<std::string> on_cpu = {};        // outputs that must be on the CPU
  DeviceType device = CUDA;
};

// Runs the operator over the CPU tensors of `ws`, then on the device over copies of its inputs, and
// compares all outputs: device, type, dims and values. Inputs that are not outputs must keep their
// values. Each engine runs twice, with the same inputs. The second run uses 64-bit indices
// (GlobalIndexOptions) and the memory of existing outputs, which hold other values and another
// shape. Afterwards `ws` holds the outputs of the CPU. THROWS what the operator throws, if
// `engines` is empty, and if `stay` or `on_cpu` names a tensor that the operator does not have.
void ExpectDevicesAgree(Workspace* ws, const std::string& text, const Agreement& agreement = {});

// Expects that the operator, run on the device over copies of its inputs in `ws`, throws
// EnforceNotMet with `part` in its message().
void ExpectDeviceThrows(Workspace* ws, const std::string& text, const std::string& part,
                        DeviceType device = CUDA);

}  // namespace caffe2rt::test
