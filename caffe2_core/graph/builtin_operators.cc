#include "caffe2_core/graph/builtin_operators.h"

#include <cstdlib>
#include <mutex>
#include <system_error>
#include <vector>

#include "caffe2_core/base/release_pages.h"

namespace caffe2rt {
namespace {

void RegisterOnce(int part) {
  static std::once_flag once[kBuiltinOperatorParts];
  std::call_once(once[part], RegisterBuiltinOperators, part);
}

}  // namespace

void RegisterBuiltinOperatorsOnce() {
  static std::once_flag once;
  std::call_once(once, [] {
    // RegistrationAhead begins at the other end.
    for (int part = kBuiltinOperatorParts - 1; part >= 0; --part) RegisterOnce(part);
  });
}

namespace {

// Memory of the calling thread that its next small allocations use. malloc asks the system for a page or two at a
// time for threads other than the first, and each such call waits for what the others do with their memory.
class ThreadHeap {
 public:
  explicit ThreadHeap(size_t bytes) {
    std::vector<void*> blocks;
    for (size_t size = 0; size < bytes; size += kBlockBytes) {
      blocks.push_back(std::malloc(kBlockBytes));
      MapPages(blocks.back(), kBlockBytes);
    }
    // While the last one is there, the system does not get the others back.
    last_ = blocks.back();
    blocks.pop_back();
    for (void* const block : blocks) std::free(block);
  }
  ~ThreadHeap() { std::free(last_); }
  ThreadHeap(const ThreadHeap&) = delete;
  ThreadHeap& operator=(const ThreadHeap&) = delete;

 private:
  static constexpr size_t kBlockBytes = size_t{96} << 10;  // less than what malloc maps apart

  void* last_;
};

constexpr size_t kRegistrationBytes = size_t{3} << 20;

}  // namespace

RegistrationAhead::RegistrationAhead() {
  const auto register_all = [] {
    try {
      const ThreadHeap heap(kRegistrationBytes);
      for (int part = 0; part < kBuiltinOperatorParts; ++part) RegisterOnce(part);
    } catch (...) {  // the first look-up has the error
    }
  };
  try {
    thread_ = std::thread(register_all);
  } catch (const std::system_error&) {
  }
}

RegistrationAhead::~RegistrationAhead() {
  if (thread_.joinable()) thread_.join();
}

}  // namespace caffe2rt
