#pragma once
// One-time set-up of a process: flags, logging, and what users registered to run then. Section 24
// of Caffe2's core.
//
//   int main(int argc, char** argv) {
//     GlobalInit(&argc, &argv);      // takes Caffe2's flags and the users' own out of argv
//
// The library works without it, with the defaults of its option structs. Thread safe; meant for the
// beginning of main.

#include <string>
#include <vector>

namespace caffe2rt {

// Runs early functions, parses flags, runs the other functions. Functions run once; a further call
// parses its flags again and runs what was registered since. True, or THROWS: an unknown flag, a
// function that fails.
bool GlobalInit(int* argc, char*** argv);
bool GlobalInit();
bool GlobalInitAlreadyRun();

using InitFunction = bool (*)(int* argc, char*** argv);
// The next GlobalInit runs `function`, before (early) or after it parses flags, in the order of
// registration.
void RegisterInitFunction(InitFunction function, bool early, const char* description);

// Flags of the library's parts beside caffe2_core (contexts/register.cc defines it); called by the
// first GlobalInit.
void RegisterContextFlags();

namespace internal {
struct InitRegisterer {
  InitRegisterer(InitFunction function, bool early, const char* description) {
    RegisterInitFunction(function, early, description);
  }
};
}  // namespace internal

// For users, at namespace scope; `function` is bool(int*, char***).
#define CAFFE2RT_REGISTER_INIT(name, function, early, description)                               \
  namespace {                                                                                    \
  [[maybe_unused]] const ::caffe2rt::internal::InitRegisterer caffe2rt_init_##name(function,     \
                                                                                   early,        \
                                                                                   description); \
  }
#define REGISTER_CAFFE2_INIT_FUNCTION(name, function, description) \
  CAFFE2RT_REGISTER_INIT(name, function, false, description)
#define REGISTER_CAFFE2_EARLY_INIT_FUNCTION(name, function, description) \
  CAFFE2RT_REGISTER_INIT(name, function, true, description)

}  // namespace caffe2rt
