#pragma once
// Runs operators on a device over a CPU workspace: inputs are copied to the device, outputs are
// copied back. A test of a CPU operator can thus test the device's operator too.

#include <string>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/runtime/workspace.h"

namespace caffe2rt::test {

// The device that the environment variable CAFFE2_TEST_DEVICE names: cpu (the default) or cuda.
// THROWS for any other value, and if the program has no such device.
DeviceType TestDevice();

// Registers a device that is linked into the program. `problem` returns why this machine has no
// such device, or "" if it has one. Called during static initialisation, as in cuda_device.cc.
void AddTestDevice(DeviceType device, std::string (*problem)());
// Calls the device's `problem`. THROWS if the device is not registered.
std::string ProblemOfTestDevice(DeviceType device);

// Thrown if the operator needs on the device a tensor whose elements cannot be stored there, such
// as strings.
class ElementsStay : public EnforceNotMet {
 public:
  explicit ElementsStay(const EnforceNotMet& error) : EnforceNotMet(error) {}
};

// Runs `def` on `device` over the blobs of `ws`, as ws->RunOperatorOnce(def) does on the CPU.
// Inputs and existing outputs that are CPU tensors are copied to the device under the same names,
// unless their elements cannot be stored there. Inputs that the operator reads on the CPU, and
// blobs that are not copied, are shared with `ws`. THROWS what the operator throws, and
// ElementsStay; in this case no output is copied back.
bool RunOperatorOn(DeviceType device, const OperatorDef& def, Workspace* ws);

}  // namespace caffe2rt::test
