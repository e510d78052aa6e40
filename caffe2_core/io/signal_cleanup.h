#pragma once
// Removes temporary files and folders (temporary.h) when a signal ends the program. Without it, they
// stay until the next file is written in their folder.

#include <string>

#pragma GCC visibility push(default)
namespace caffe2rt {

// From now on, SIGINT, SIGTERM, SIGHUP and SIGPIPE remove the temporaries of this process before they
// end it.
// A signal that is ignored or has a handler keeps its action. For programs: call it once, at the
// beginning of main.
void RemoveTemporariesOnSignals();

namespace internal {
// Adds the path of a temporary to those that a signal removes. ForgetTemporary (temporary.h) takes it
// out. If there are very many, the temporary is not tracked. Thread safe.
void RememberTemporary(const std::string& path);
}  // namespace internal

}  // namespace caffe2rt
#pragma GCC visibility pop
