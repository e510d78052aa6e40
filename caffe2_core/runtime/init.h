#pragma once
// One-time initialization of a process: parses flags and runs registered init functions.
//
//   int main(int argc, char** argv) {
//     GlobalInit(&argc, &argv);      // removes Caffe2's and the user's flags from argv
//     ...
//   }
//
// Calling it is optional: without it, the library uses the defaults of its option structs. Call it
// at the beginning of main. Thread safe.

#include <string>
#include <vector>

#pragma GCC visibility push(default)
namespace caffe2rt {

// Runs the early init functions, parses the flags, then runs the other init functions. Each
// function runs once. A later call parses its own flags and runs the functions that were registered
// in the meantime. Returns true, or THROWS if a flag is invalid or a function fails. As in Caffe2,
// `--help` prints the usage message (SetUsageMessage) and the flags and ends the process with exit
// code 0, unless the program registered a flag of that name.
bool GlobalInit(int* argc, char*** argv);
bool GlobalInit();
bool GlobalInitAlreadyRun();

using InitFunction = bool (*)(int* argc, char*** argv);
// Makes the next GlobalInit run `function`. If `early` is set, it runs before the flags are parsed,
// otherwise after that. Functions run in the order of registration.
void RegisterInitFunction(InitFunction function, bool early, const char* description);

// Registers the flags of the built-in contexts. Defined in contexts/register.cc and called by the
// first GlobalInit.
void RegisterContextFlags();

namespace internal {
struct InitRegisterer {
  InitRegisterer(InitFunction function, bool early, const char* description) {
    RegisterInitFunction(function, early, description);
  }
};
}  // namespace internal

// Register an init function; use at namespace scope. `function` is an InitFunction.
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
#pragma GCC visibility pop
