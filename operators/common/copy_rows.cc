#include "operators/common/copy_rows.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "operators/primitives/parallel_ranges.h"

namespace caffe2rt {

namespace {

// Rows of one machine word: calling memcpy for each row would cost more than the copy itself.
template <class Word>
void CopyWords(int64_t rows, const void* src, int64_t src_stride, void* dst, int64_t dst_stride) {
  const Word* from = static_cast<const Word*>(src);
  Word* to = static_cast<Word*>(dst);
  for (int64_t i = 0; i < rows; ++i) to[i * dst_stride] = from[i * src_stride];
}

// Copying a float is a step of ParallelRanges.
constexpr size_t kBytesInStep = 4;

void CopyBytes(size_t bytes, const char* from, char* to) {
  const auto words = static_cast<int64_t>(bytes / kBytesInStep);
  ParallelElements(words, [&](int64_t first, int64_t last) {
    const size_t begin = static_cast<size_t>(first) * kBytesInStep;
    const size_t end = last == words ? bytes : static_cast<size_t>(last) * kBytesInStep;
    std::memcpy(to + begin, from + begin, end - begin);
  });
  if (words == 0) std::memcpy(to, from, bytes);
}

}  // namespace

void CopyRows(CPUContext& context, TypeMeta type, int64_t rows, int64_t row_items, const void* src,
              int64_t src_stride, void* dst, int64_t dst_stride) {
  if (rows <= 0 || row_items <= 0) return;
  if (row_items == src_stride && row_items == dst_stride) {
    context.CopyItemsSameDevice(type, static_cast<size_t>(rows * row_items), src, dst);
    return;
  }
  if (!type.IsPlainData()) {
    for (int64_t i = 0; i < rows; ++i) {
      type.copy()(ItemAt(src, type, i * src_stride), ItemAt(dst, type, i * dst_stride),
                  static_cast<size_t>(row_items));
    }
    return;
  }
  if (row_items == 1 && type.itemsize() == 4) {
    CopyWords<uint32_t>(rows, src, src_stride, dst, dst_stride);
    return;
  }
  if (row_items == 1 && type.itemsize() == 8) {
    CopyWords<uint64_t>(rows, src, src_stride, dst, dst_stride);
    return;
  }
  const size_t bytes = static_cast<size_t>(row_items) * type.itemsize();
  const size_t src_step = static_cast<size_t>(src_stride) * type.itemsize();
  const size_t dst_step = static_cast<size_t>(dst_stride) * type.itemsize();
  const char* from = static_cast<const char*>(src);
  char* to = static_cast<char*>(dst);
  if (rows == 1) {
    CopyBytes(bytes, from, to);
    return;
  }
  ParallelRanges(rows, static_cast<int64_t>(bytes / kBytesInStep) + 1,
                 [&](int64_t first, int64_t last) {
                   for (int64_t i = first; i < last; ++i) {
                     const auto row = static_cast<size_t>(i);
                     std::memcpy(to + row * dst_step, from + row * src_step, bytes);
                   }
                 });
}

void FillZeros(CPUContext&, size_t nbytes, void* y) {
  if (nbytes > 0) std::memset(y, 0, nbytes);
}

void FillBlanks(TypeMeta type, int64_t items, void* y) {
  if (type.IsPlainData()) {
    if (items > 0) std::memset(y, 0, static_cast<size_t>(items) * type.itemsize());
    return;
  }
  CAFFE_ENFORCE(type.Match<std::string>(), "elements of type ", type.name(), " have no blank");
  std::fill_n(static_cast<std::string*>(y), items, std::string());
}

}  // namespace caffe2rt
