// Preloaded into a program: one of its calls of malloc fails, the one whose number, counted from 0,
// the environment variable FAILING_MALLOC states. Calls of libraries neither count nor fail, except
// that their operator new is the program's own.

#include <link.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

extern "C" void* __libc_malloc(size_t size);

namespace {

std::atomic<long> left{-1};                        // the calls until the one that fails
uintptr_t code_begin = UINTPTR_MAX, code_end = 0;  // of the program

int FindProgram(dl_phdr_info* info, size_t, void*) {
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    code_begin = info->dlpi_addr + segment.p_vaddr;
    code_end = code_begin + segment.p_memsz;
  }
  return 1;  // the program comes first; stop
}

[[gnu::constructor]] void Start() {
  dl_iterate_phdr(&FindProgram, nullptr);
  if (const char* text = std::getenv("FAILING_MALLOC")) left = std::atol(text);
}

}  // namespace

extern "C" void* malloc(size_t size) {
  const auto caller = reinterpret_cast<uintptr_t>(__builtin_return_address(0));
  if (caller >= code_begin && caller < code_end && left.fetch_sub(1) == 0) return nullptr;
  return __libc_malloc(size);
}
