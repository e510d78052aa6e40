#pragma once
// Tensors that have a shape and an element type but no memory. The checks of an operator can run on
// them: it stops where it uses an element, or before it computes.
//
//   const ShapeOnlyScope scope(kLargestBytes);
//   try {
//     op->Run();              // its inputs are like ShapeOnlyTensor({2, 3}, TypeMeta::Make<float>())
//   } catch (const NoElements&) {
//     ...                     // it accepts the shapes and types
//   }

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/tensor/tensor.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

// Elements of a tensor were used that has no memory, or a ShapeOnlyScope denied memory.
class NoElements : public EnforceNotMet {
 public:
  using EnforceNotMet::EnforceNotMet;
};

// THROWS NoElements with the message.
[[noreturn]] void ThrowNoElements(std::string message);

// Which elements of a ShapeOnlyTensor can be read: none, or floating-point numbers, if the tensor has
// at most kMostReadableBytes. They are all 0, or all the same number above 1. Other elements, which
// may be sizes or positions, cannot be read.
enum class ReadableElements { kNone, kZeroFloats, kPositiveFloats };
inline constexpr size_t kMostReadableBytes = size_t{1} << 20;

// A read-only tensor on the CPU. THROWS if a dimension is negative or if the number of elements
// overflows.
Tensor ShapeOnlyTensor(const std::vector<int64_t>& dims, TypeMeta type,
                       ReadableElements readable = ReadableElements::kNone);

// While it exists, tensors allocate at most `limit_bytes` in all on this thread; after that, they
// throw NoElements. So does a tensor that has an element type but no memory, such as an input that is
// also an output. Scopes may be nested; the innermost one counts.
class ShapeOnlyScope {
 public:
  explicit ShapeOnlyScope(size_t limit_bytes);
  ~ShapeOnlyScope();
  ShapeOnlyScope(const ShapeOnlyScope&) = delete;
  ShapeOnlyScope& operator=(const ShapeOnlyScope&) = delete;

  // For Tensor. THROWS NoElements if this thread is in a scope that does not allow a tensor to
  // allocate that many bytes.
  static void BeforeAllocation(size_t nbytes, bool has_type);

 private:
  std::atomic<size_t> bytes_left_;
  ShapeOnlyScope* const outer_;
};

}  // namespace caffe2rt
#pragma GCC visibility pop
