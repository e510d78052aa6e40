#include "operators/common/strided_copy.h"

#include "caffe2_core/base/checked_math.h"
#include "operators/common/copy_rows.h"
#include "operators/primitives/parallel_ranges.h"

namespace caffe2rt {

namespace {

// A run of elements of one size, or of any size through CopyRow.
template <class T>
void CopyRun(int64_t n, const T* src, int64_t src_stride, T* dst, int64_t dst_stride) {
  if (src_stride == 1 && dst_stride == 1) {
    std::copy_n(src, n, dst);
  } else if (src_stride == 0 && dst_stride == 1) {
    std::fill_n(dst, n, *src);
  } else {
    for (int64_t i = 0; i < n; ++i) dst[i * dst_stride] = src[i * src_stride];
  }
}

}  // namespace

void StridedCopy::Add(int64_t size, int64_t src_stride, int64_t dst_stride) {
  empty_ = empty_ || size == 0;
  if (size == 1) return;
  if (count_ > 0) {
    Loop& last = loops_[static_cast<size_t>(count_ - 1)];
    if (last.src == size * src_stride && last.dst == size * dst_stride) {
      last = {last.size * size, src_stride, dst_stride};
      return;
    }
  }
  CAFFE_ENFORCE_LT(count_, kMaxLoops, "loops of a copy");
  loops_[static_cast<size_t>(count_++)] = {size, src_stride, dst_stride};
}

void StridedCopy::Run(TypeMeta type, const void* src, void* dst) const {
  if (empty_) return;
  const Loop inner = count_ > 0 ? loops_[static_cast<size_t>(count_ - 1)] : Loop{1, 1, 1};
  std::array<int64_t, kMaxLoops> sizes{};
  int64_t rows = 1;
  const int outer = std::max(count_ - 1, 0);
  for (int i = 0; i < outer; ++i) {
    sizes[static_cast<size_t>(i)] = loops_[static_cast<size_t>(i)].size;
    rows *= loops_[static_cast<size_t>(i)].size;
  }
  const IntArrayRef outer_sizes(sizes.data(), static_cast<size_t>(outer));
  DispatchBySize(type, "the tensor", [&](auto element) {
    using T = decltype(element);
    ParallelRanges(rows, inner.size, [&](int64_t first, int64_t last) {
      ForEachRowOf(outer_sizes, first, last, [&](int64_t, const int64_t* index) {
        const T* from = static_cast<const T*>(src);
        T* to = static_cast<T*>(dst);
        for (int i = 0; i < outer; ++i) {
          from += index[i] * loops_[static_cast<size_t>(i)].src;
          to += index[i] * loops_[static_cast<size_t>(i)].dst;
        }
        CopyRun(inner.size, from, inner.src, to, inner.dst);
      });
    });
  });
}

void CopyByTables(TypeMeta type, IntArrayRef dims, const int64_t* const* tables, const void* src,
                  void* dst) {
  const int64_t total = CheckedProduct(dims);
  if (total == 0) return;
  // The last dimensions whose tables go on with the next element are copied as one block.
  size_t rank = dims.size();
  int64_t block = 1;
  while (rank > 0) {
    const int64_t* const table = tables[rank - 1];
    const int64_t size = dims[rank - 1];
    int64_t i = 0;
    while (i < size && table[i] == i * block) ++i;
    if (i < size) break;
    block *= size;
    --rank;
  }
  const int64_t runs = rank > 0 ? dims[rank - 1] : 1;  // blocks of a row
  const IntArrayRef outer(dims.data(), rank > 0 ? rank - 1 : 0);
  DispatchBySize(type, "the tensor", [&](auto element) {
    using T = decltype(element);
    ParallelRanges(total / (runs * block), runs * block, [&](int64_t first, int64_t last) {
      ForEachRowOf(outer, first, last, [&](int64_t row, const int64_t* index) {
        const T* from = static_cast<const T*>(src);
        for (size_t i = 0; i < outer.size(); ++i) from += tables[i][index[i]];
        T* to = static_cast<T*>(dst) + row * runs * block;
        if (rank == 0) {
          std::copy_n(from, block, to);
        } else if (block == 1) {
          const int64_t* const table = tables[rank - 1];
          for (int64_t i = 0; i < runs; ++i) to[i] = from[table[i]];
        } else {
          const int64_t* const table = tables[rank - 1];
          for (int64_t i = 0; i < runs; ++i) std::copy_n(from + table[i], block, to + i * block);
        }
      });
    });
  });
}

void FillWith(TypeMeta type, int64_t count, const void* value, void* dst) {
  DispatchBySize(type, "the tensor", [&](auto element) {
    using T = decltype(element);
    const T& v = *static_cast<const T*>(value);
    ParallelElements(count, [&](int64_t first, int64_t last) {
      std::fill(static_cast<T*>(dst) + first, static_cast<T*>(dst) + last, v);
    });
  });
}

}  // namespace caffe2rt
