#pragma once
// Reductions of a whole array to one value on CUDA. Several blocks of threads each reduce a piece
// of the array; one more block then reduces their results.
//
//   struct Longest {                      // plain values; every member is for host and device
//     using Value = float;
//     Value Start() const;                // the identity of Combine
//     Value At(int64_t i) const;          // element i
//     Value Combine(Value a, Value b) const;   // associative and commutative
//     void Finish(Value result) const;    // writes the result; called by one thread
//   };
//   ReduceAll(context, n, Longest{...}, scratch, "Longest");
//
// Combine may receive Start any number of times. `scratch` is kReduceAllBytes<Value> bytes of
// device memory, or a tensor that is resized to hold them.

#include <algorithm>
#include <cstdint>

#include "contexts/cuda/cuda_kernel.cuh"
#include "operators/primitives/device_scratch.h"

namespace caffe2rt {

namespace internal {

template <class Work>
struct CombineValues {
  Work work;
  CAFFE2RT_HOST_DEVICE typename Work::Value operator()(typename Work::Value a,
                                                       typename Work::Value b) const {
    return work.Combine(a, b);
  }
};

// Row i reduces elements [i * piece, min((i + 1) * piece, n)).
template <class Work>
struct ReducePieces {
  using Value = typename Work::Value;
  Work work;
  int64_t n;
  int64_t piece;
  // null if there is one piece; its value is then the result
  Value* partial;
  CAFFE2RT_HOST_DEVICE void operator()(const Row& row) const {
    const int64_t first = row.index() * piece;
    const int64_t count = n - first < piece ? n - first : piece;
    const Value value = row.Reduce(count, work.Start(), CombineValues<Work>{work},
                                   [=, this](int64_t i) { return work.At(first + i); });
    row.Once([=, this] {
      if (partial == nullptr) {
        work.Finish(value);
      } else {
        partial[row.index()] = value;
      }
    });
  }
};

template <class Work>
struct ReducePartial {
  using Value = typename Work::Value;
  Work work;
  int64_t pieces;
  const Value* partial;
  CAFFE2RT_HOST_DEVICE void operator()(const Row& row) const {
    const Value value = row.Reduce(pieces, work.Start(), CombineValues<Work>{work},
                                   [=, this](int64_t i) { return partial[i]; });
    row.Once([=, this] { work.Finish(value); });
  }
};

}  // namespace internal

inline constexpr int64_t kReduceAllPieces = 4 * kKernelThreads;
template <class Value>
inline constexpr int64_t kReduceAllBytes = kReduceAllPieces* static_cast<int64_t>(sizeof(Value));

inline constexpr int64_t kReduceAllLeast = 32 * kKernelThreads;

// Reduces n elements; `name` is for errors. An array of fewer than kReduceAllLeast elements is one
// piece and needs no scratch memory.
template <class Work>
void ReduceAll(CUDAContext& context, int64_t n, const Work& work, void* scratch, const char* name) {
  constexpr int64_t kLeastPiece = kReduceAllLeast / 2;
  const int64_t pieces = std::clamp<int64_t>(n / kLeastPiece, 1, kReduceAllPieces);
  const int64_t piece = (n + pieces - 1) / pieces;
  if (pieces == 1) {
    ForEachRow(context, 1, internal::ReducePieces<Work>{work, n, piece, nullptr}, name);
    return;
  }
  auto* const partial = static_cast<typename Work::Value*>(scratch);
  const int64_t rows = (n + piece - 1) / piece;
  ForEachRow(context, rows, internal::ReducePieces<Work>{work, n, piece, partial}, name);
  ForEachRow(context, 1, internal::ReducePartial<Work>{work, rows, partial}, name);
}

template <class Work>
void ReduceAll(CUDAContext& context, int64_t n, const Work& work, Tensor* scratch,
               const char* name) {
  ReduceAll(context, n, work, ScratchBytes(scratch, kReduceAllBytes<typename Work::Value>), name);
}

}  // namespace caffe2rt
