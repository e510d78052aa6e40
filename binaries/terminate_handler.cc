#include "binaries/terminate_handler.h"

#include <errno.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>

namespace caffe2rt {
namespace {

std::atomic<std::terminate_handler> previous{nullptr};

// Prints without allocating.
void PrintOutOfMemory() {
  constexpr char kText[] = ": out of memory\n";
  char* const name = program_invocation_short_name;
  const iovec parts[] = {{name, std::strlen(name)}, {const_cast<char*>(kText), sizeof(kText) - 1}};
  [[maybe_unused]] const ssize_t written = writev(STDERR_FILENO, parts, 2);
}

[[noreturn]] void Terminate() {
  if (std::current_exception() != nullptr) {
    try {
      throw;
    } catch (const std::bad_alloc&) {
      PrintOutOfMemory();
      _exit(1);
    } catch (...) {  // for the previous handler
    }
  }
  if (const std::terminate_handler handler = previous) handler();
  std::abort();
}

}  // namespace

void EndWithErrorWhenOutOfMemory() {
  const std::terminate_handler handler = std::set_terminate(&Terminate);
  if (handler != &Terminate) previous = handler;
}

#ifndef CAFFE2RT_SANITIZED  // a sanitizer is not ready for instrumented code so early
namespace {
[[gnu::section(".preinit_array"),
  gnu::used]] void (*before_constructors)() = &EndWithErrorWhenOutOfMemory;
}  // namespace
#endif

}  // namespace caffe2rt
