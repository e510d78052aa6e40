#include "tests/style/thread_rules.h"

#include <map>
#include <string>

namespace caffe2rt::test {
namespace {

struct Excuse {
  int lines;  // that contain the word
  const char* reason;
};

constexpr char kCarried[] = "carried by CarriedState";
constexpr char kStarted[] = "one thread of a net starts all operators on devices";

const std::map<std::string, Excuse>& Excuses() {
  static const std::map<std::string, Excuse> excuses = {
      {"caffe2_core/base/logging.cc", {1, "guards a call in progress"}},
      {"caffe2_core/base/overwritten_memory.h", {1, kCarried}},
      {"caffe2_core/base/pool_workers.h", {1, "says what the thread is"}},
      {"caffe2_core/base/stack_limit.cc", {1, "the stack of the thread"}},
      {"caffe2_core/base/thread_state.cc", {1, kCarried}},
      {"caffe2_core/base/thread_state.h", {1, kCarried}},
      {"caffe2_core/c_api/caffe2rt.cc", {1, "the error that the caller's thread asks for"}},
      {"caffe2_core/compat/caffe2/utils/smart_tensor_printer.h", {1, "one printer per thread"}},
      {"caffe2_core/runtime/workspace.cc", {1, "a cache"}},
      {"caffe2_core/tensor/storage.cc", {1, kCarried}},
      {"caffe2_core/tensor/storage.h", {1, kCarried}},
      {"contexts/cuda/cuda_async_pool.cc", {1, "set during one allocation"}},
      {"contexts/cuda/cuda_current_device.cc", {2, kStarted}},
      {"contexts/cuda/cuda_device.h", {1, kStarted}},
      {"contexts/cuda/cuda_graph.cc", {1, kStarted}},
      {"contexts/cuda/cuda_graph.h", {1, kStarted}},
      {"contexts/cuda/cuda_stream.cc", {3, kStarted}},
      {"contexts/onednn/onednn_library.cc", {1, "one stream object per thread"}},
      {"operators/primitives/scratch.cc", {1, "memory of the thread"}},
  };
  return excuses;
}

bool IsChecked(const SourceFile& file) {
  if (!file.IsCode()) return false;
  for (const char* folder : {"binaries/", "caffe2_core/", "contexts/", "operators/", "python/"}) {
    if (file.IsUnder(folder)) return true;
  }
  return false;
}

// The word may stand in a comment that begins before it.
bool Declares(const std::string& line) {
  const size_t word = line.find("thread_local"), comment = line.find("//");
  return word != std::string::npos && word < comment;
}

}  // namespace

Violations CheckThreadLocals(const std::vector<SourceFile>& files) {
  Violations violations;
  for (const SourceFile& file : files) {
    if (!IsChecked(file)) continue;
    const auto excuse = Excuses().find(file.path);
    int left = excuse == Excuses().end() ? 0 : excuse->second.lines;
    for (size_t i = 0; i < file.lines.size(); ++i) {
      if (!Declares(file.lines[i]) || --left >= 0) continue;
      violations.push_back(file.path + ":" + std::to_string(i + 1) +
                           " is thread_local: make it a member of ThreadState "
                           "(caffe2_core/base/thread_state.h), or list it in "
                           "tests/style/thread_rules.cc with the reason");
    }
    if (left > 0) {
      violations.push_back(file.path +
                           " has fewer thread_local variables than "
                           "tests/style/thread_rules.cc lists");
    }
  }
  return violations;
}

}  // namespace caffe2rt::test
