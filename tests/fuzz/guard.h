#pragma once
// Saves the input in hand when the process crashes, a sanitizer stops it, or one input takes too
// long.
//
//   InstallGuard(folder, 10);
//   GuardInput("fuzz-1-37-models-init_net.pb", bytes);   // before each input
//   ReleaseInput();                                      // after it

#include <string>

namespace caffe2rt::test {

// Saved inputs go to `folder`, which must exist. Process-wide.
void InstallGuard(const std::string& folder, unsigned timeout_s);

// `bytes` must stay alive and unchanged until ReleaseInput.
void GuardInput(const std::string& name, const std::string& bytes);
void ReleaseInput();

// Saves the input in hand, for failures that end no process. Returns its path.
std::string SaveInput();

}  // namespace caffe2rt::test
