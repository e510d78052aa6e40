// Operator new that FailingAllocations can make fail, for a test program under ASAN. In builds
// without sanitizers allocation_counter.cc defines it.
#ifdef CAFFE2RT_SANITIZED

#include <cstdlib>
#include <new>

#include "tests/support/failing_allocations.h"

// Leaks of other libraries (allocation_sweep.h has the reasons).
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() {
  return "leak:google::protobuf::internal::RepeatedPtrFieldBase::\n"
         "leak:google::protobuf::RepeatedPtrField<*>::Add\n"
         "leak:google::protobuf::Reflection::AddMessage\n"
         "leak:google::protobuf::internal::ArenaStringPtr::Set\n";
}
extern "C" const char* __lsan_default_options();
extern "C" const char* __lsan_default_options() { return "print_suppressions=0"; }

namespace {

void* Allocate(size_t size, size_t alignment, const void* caller) {
  if (caffe2rt::test::AllocationFails(caller, false)) return nullptr;
  if (alignment <= __STDCPP_DEFAULT_NEW_ALIGNMENT__) return std::malloc(size == 0 ? 1 : size);
  void* block = nullptr;
  return posix_memalign(&block, alignment, size) == 0 ? block : nullptr;
}

void* OrThrow(void* block) {
  if (block == nullptr) throw std::bad_alloc();
  return block;
}

}  // namespace

void* operator new(size_t size) { return OrThrow(Allocate(size, 0, __builtin_return_address(0))); }
void* operator new[](size_t size) {
  return OrThrow(Allocate(size, 0, __builtin_return_address(0)));
}
void* operator new(size_t size, const std::nothrow_t&) noexcept {
  return Allocate(size, 0, __builtin_return_address(0));
}
void* operator new[](size_t size, const std::nothrow_t&) noexcept {
  return Allocate(size, 0, __builtin_return_address(0));
}
void* operator new(size_t size, std::align_val_t alignment) {
  return OrThrow(Allocate(size, static_cast<size_t>(alignment), __builtin_return_address(0)));
}
void* operator new[](size_t size, std::align_val_t alignment) {
  return OrThrow(Allocate(size, static_cast<size_t>(alignment), __builtin_return_address(0)));
}
void operator delete(void* block) noexcept { std::free(block); }
void operator delete[](void* block) noexcept { std::free(block); }
void operator delete(void* block, size_t) noexcept { std::free(block); }
void operator delete[](void* block, size_t) noexcept { std::free(block); }
void operator delete(void* block, std::align_val_t) noexcept { std::free(block); }
void operator delete[](void* block, std::align_val_t) noexcept { std::free(block); }
void operator delete(void* block, size_t, std::align_val_t) noexcept { std::free(block); }
void operator delete[](void* block, size_t, std::align_val_t) noexcept { std::free(block); }

#endif  // CAFFE2RT_SANITIZED
