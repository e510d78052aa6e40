#pragma once
// Operators on a device, over a workspace of the CPU: inputs go there, outputs come back. So what
// is proved of an operator of the CPU is proved of the device's too.

#include <string>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/runtime/workspace.h"

namespace caffe2rt::test {

// The device that the environment asks for: CAFFE2_TEST_DEVICE=cuda, or cpu, the default. THROWS
// for another word, and when the program has no such device.
DeviceType TestDevice();

// Registers a device that the program is linked with: `problem` returns why this machine has no
// such device, or "" if it has one. Static initialisation calls it, as in cuda_device.cc.
void AddTestDevice(DeviceType device, std::string (*problem)());
// Calls the device's `problem`. THROWS if the device is not registered.
std::string ProblemOfTestDevice(DeviceType device);

// The operator wants a tensor on the device whose elements cannot live there, such as strings.
class ElementsStay : public EnforceNotMet {
 public:
  explicit ElementsStay(const EnforceNotMet& error) : EnforceNotMet(error) {}
};

// Runs `def` on `device`, with its blobs from `ws` and to it, as ws->RunOperatorOnce does on the
// CPU. Tensors of the CPU go to the device under the same names, unless their elements cannot live
// there; so do outputs that exist. An input that the operator wants on the CPU stays there. THROWS
// what the operator throws, and ElementsStay; then `ws` is as before, but for outputs without
// content.
bool RunOperatorOn(DeviceType device, const OperatorDef& def, Workspace* ws);

}  // namespace caffe2rt::test
