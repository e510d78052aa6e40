#include "caffe2_core/tensor/shape_only.h"

#include <cstring>
#include <utility>

#include "caffe2_core/base/float16.h"
#include "caffe2_core/base/thread_state.h"

namespace caffe2rt {
namespace {

// Memory of which every byte is the same. Never written: tensors that use it are read-only.
struct Filled {
  explicit Filled(int byte) { std::memset(bytes, byte, sizeof(bytes)); }
  alignas(64) char bytes[kMostReadableBytes];
};

char* ZeroFloats() {
  static Filled zeros(0);
  return zeros.bytes;
}
// 3.004 as float, 32.5 as double, 2.125 as float16.
char* PositiveFloats() {
  static Filled positives(0x40);
  return positives.bytes;
}

bool IsFloat(TypeMeta type) {
  return type.Match<float>() || type.Match<double>() || type.Match<float16>();
}

}  // namespace

void ThrowNoElements(std::string message) {
  throw NoElements(__FILE__, __LINE__, "", std::move(message));
}

Tensor ShapeOnlyTensor(const std::vector<int64_t>& dims, TypeMeta type, ReadableElements readable) {
  Tensor tensor(dims, CPU);
  char* const memory =
      readable == ReadableElements::kPositiveFloats ? PositiveFloats() : ZeroFloats();
  tensor.ShareExternalPointer(memory, type, kMostReadableBytes);
  const bool is_readable =
      readable != ReadableElements::kNone && IsFloat(type) && tensor.nbytes() <= kMostReadableBytes;
  // An empty tensor keeps the pointer, because nothing can be read from it.
  if (is_readable || tensor.numel() == 0) {
    tensor.MarkReadOnly();
  } else {
    tensor.FreeMemory();
  }
  return tensor;
}

ShapeOnlyScope::ShapeOnlyScope(size_t limit_bytes)
    : bytes_left_(limit_bytes), outer_(t_thread_state.shape_only) {
  t_thread_state.shape_only = this;
}

ShapeOnlyScope::~ShapeOnlyScope() { t_thread_state.shape_only = outer_; }

void ShapeOnlyScope::BeforeAllocation(size_t nbytes, bool has_type) {
  ShapeOnlyScope* const scope = t_thread_state.shape_only;
  if (scope == nullptr) return;
  size_t left = scope->bytes_left_.load(std::memory_order_relaxed);
  do {
    if (has_type || nbytes > left)
      ThrowNoElements("an operator that is only checked gets no memory for this tensor");
  } while (!scope->bytes_left_.compare_exchange_weak(left, left - nbytes));
}

}  // namespace caffe2rt
