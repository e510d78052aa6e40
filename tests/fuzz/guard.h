#pragma once
// Saves the current input if the process crashes, a sanitizer stops it, or the input exceeds the
// timeout.
//
//   InstallGuard(folder, 10);
//   GuardInput("fuzz-1-37-models-init_net.pb", bytes);   // before each input
//   ReleaseInput();                                      // after it

#include <string>

namespace caffe2rt::test {

// Installs process-wide signal handlers. Inputs are saved to `folder`, which must exist.
void InstallGuard(const std::string& folder, unsigned timeout_s);

// Sets the current input and starts its timeout. `bytes` must remain valid and unchanged until
// ReleaseInput.
void GuardInput(const std::string& name, const std::string& bytes);
void ReleaseInput();

// Saves the current input, for failures that do not end the process. Returns its path.
std::string SaveInput();

}  // namespace caffe2rt::test
