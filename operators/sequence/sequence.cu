// The kernels of the operators on sequences (sequence_kernels.h), except SequenceMask.

#include "contexts/cuda/cuda_kernel.cuh"
#include "operators/common/words.cuh"
#include "operators/primitives/wrapping.h"
#include "operators/sequence/sequence_kernels.h"

namespace caffe2rt {

namespace {

// The number of words of `bytes` bytes.
template <class Word, class Index>
Index WordsOf(int64_t bytes) {
  return static_cast<Index>(bytes / static_cast<int64_t>(sizeof(Word)));
}

// The row of word i, and the word in the row.
template <class Index>
struct RowAndWord {
  Index row, word;
  CAFFE2RT_HOST_DEVICE RowAndWord(int64_t i, Index block)
      : row(static_cast<Index>(i) / block), word(static_cast<Index>(i) % block) {}
};

// A thread writes one word of the packed segments.
template <class Word, class Index>
struct Pack {
  Index length, block;  // rows of a packed segment; words of a row
  const int64_t* offsets;
  Word padding;
  const Word* rows;
  Word* packed;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    const auto [row, word] = RowAndWord<Index>(i, block);
    const Index s = row / length, t = row % length;
    const int64_t from = offsets[s] + t;
    packed[i] = from < offsets[s + 1] ? rows[from * block + word] : padding;
  }
};

// A thread reads one word of the packed segments.
template <class Word, class Index>
struct Unpack {
  Index length, block;
  const int64_t* offsets;
  const Word* packed;
  Word* rows;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    const auto [row, word] = RowAndWord<Index>(i, block);
    const Index s = row / length, t = row % length;
    const int64_t to = offsets[s] + t;
    if (to < offsets[s + 1]) rows[to * block + word] = packed[i];
  }
};

struct Presence {
  int64_t length;
  const int64_t* offsets;
  bool* mask;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    const int64_t s = i / length, t = i % length;
    mask[i] = t < offsets[s + 1] - offsets[s];
  }
};

template <class Word, class Index>
struct Reverse {
  Index batch, block;
  const int64_t* lengths;
  const Word* x;
  Word* y;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    const auto [row, word] = RowAndWord<Index>(i, block);
    const Index b = row % batch;
    const int64_t t = row / batch, length = lengths[b];
    const int64_t step = t < length ? length - 1 - t : t;
    y[i] = x[(step * batch + b) * block + word];
  }
};

// Returns the segment that contains `row`, where each segment is `extra` rows longer than the
// offsets state, or `segments` if the row is behind all of them.
CAFFE2RT_HOST_DEVICE inline int64_t SegmentOf(int64_t row, int64_t segments, int64_t extra,
                                              const int64_t* offsets) {
  int64_t low = 0, high = segments;  // the first segment that ends behind the row
  while (low < high) {
    const int64_t middle = (low + high) / 2;
    if (offsets[middle + 1] + (middle + 1) * extra > row) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

// A thread writes one word of the padded rows.
template <class Word, class Index>
struct Pad {
  Index block;
  PaddedSizes sizes;
  const int64_t* offsets;
  const Word* x;
  const Word* before;
  const Word* after;
  Word* y;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    const RowAndWord<Index> at(i, block);
    const int64_t row = at.row, word = at.word, widths = sizes.start + sizes.end;
    const int64_t s = SegmentOf(row, sizes.segments, widths, offsets);
    if (s == sizes.segments) {
      y[i] = Word{};
      return;
    }
    const int64_t t = row - offsets[s] - s * widths - sizes.start;
    if (t < 0) {
      y[i] = before != nullptr ? before[word] : Word{};
    } else if (t >= offsets[s + 1] - offsets[s]) {
      y[i] = after != nullptr ? after[word] : Word{};
    } else {
      y[i] = x[(offsets[s] + t) * block + word];
    }
  }
};

// A thread writes one word of the rows without padding.
template <class Word, class Index>
struct Trim {
  Index block;
  PaddedSizes sizes;
  const int64_t* offsets;
  const Word* x;
  Word* y;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    const RowAndWord<Index> at(i, block);
    const int64_t row = at.row, word = at.word, widths = sizes.start + sizes.end;
    const int64_t s = SegmentOf(row, sizes.segments, -widths, offsets);
    y[i] = s == sizes.segments ? Word{} : x[(row + s * widths + sizes.start) * block + word];
  }
};

struct WrappingPlus {
  template <class T>
  CAFFE2RT_HOST_DEVICE T operator()(T a, T b) const {
    return math::WrappingAdd(a, b);
  }
};

// A block of threads adds up one column of the padding.
template <class T>
struct SumColumn {
  PaddingSums sizes;
  const int64_t* offsets;
  const T* x;
  T* before;
  T* after;
  CAFFE2RT_HOST_DEVICE T Sum(const Row& row, int64_t width, int64_t shift, int64_t end) const {
    const SumColumn self = *this;
    const int64_t column = row.index();
    return row.Reduce(sizes.segments * width, T(0), WrappingPlus(), [=](int64_t i) {
      const int64_t s = i / width, t = i % width;
      return self.x[(self.offsets[s + end] - shift + t) * self.sizes.block + column];
    });
  }
  CAFFE2RT_HOST_DEVICE void operator()(Row row) const {
    const T first = sizes.start > 0 ? Sum(row, sizes.start, 0, 0) : T(0);
    const T last = sizes.end > 0 ? Sum(row, sizes.end, sizes.end, 1) : T(0);
    const SumColumn self = *this;
    const int64_t column = row.index();
    row.Once([=] {
      self.before[column] = self.after != nullptr ? first : math::WrappingAdd(first, last);
      if (self.after != nullptr) self.after[column] = last;
    });
  }
};

// Runs make(Word{}, Index{}), a kernel that handles one word of `nbytes` bytes. `bits` are those of
// ForWord.
template <class Make>
void ForWords(CUDAContext& context, uint64_t bits, int64_t nbytes, const Make& make,
              const char* name) {
  ForWord(bits, nbytes, [&](auto word, auto index) {
    ForEach(context, WordsOf<decltype(word), int64_t>(nbytes), make(word, index), name);
  });
}

// A word of zeros or of floats that are -infinity.
template <class Word>
Word PaddingWord(bool minus_infinity) {
  constexpr uint32_t kMinusInfinity = 0xff800000u;
  Word padding{};
  for (size_t i = 0; minus_infinity && i + 4 <= sizeof(padding); i += 4) {
    memcpy(reinterpret_cast<char*>(&padding) + i, &kMinusInfinity, 4);
  }
  return padding;
}

}  // namespace

void PackRowBytes(CUDAContext& context, const PackedSizes& sizes, const int64_t* offsets,
                  bool pad_minus_infinity, const void* rows, void* packed) {
  const auto make = [&](auto word, auto index) {
    using Word = decltype(word);
    using Index = decltype(index);
    return Pack<Word, Index>{static_cast<Index>(sizes.max_length),
                             WordsOf<Word, Index>(sizes.block_bytes),
                             offsets,
                             PaddingWord<Word>(pad_minus_infinity),
                             static_cast<const Word*>(rows),
                             static_cast<Word*>(packed)};
  };
  ForWords(context,
           static_cast<uint64_t>(sizes.block_bytes) | AddressBits(rows) | AddressBits(packed),
           sizes.segments * sizes.max_length * sizes.block_bytes, make, "PackSegments");
}

void UnpackRowBytes(CUDAContext& context, const PackedSizes& sizes, const int64_t* offsets,
                    const void* packed, void* rows) {
  const auto make = [&](auto word, auto index) {
    using Word = decltype(word);
    using Index = decltype(index);
    return Unpack<Word, Index>{static_cast<Index>(sizes.max_length),
                               WordsOf<Word, Index>(sizes.block_bytes), offsets,
                               static_cast<const Word*>(packed), static_cast<Word*>(rows)};
  };
  ForWords(context,
           static_cast<uint64_t>(sizes.block_bytes) | AddressBits(rows) | AddressBits(packed),
           sizes.segments * sizes.max_length * sizes.block_bytes, make, "UnpackSegments");
}

void MarkPresence(CUDAContext& context, const PackedSizes& sizes, const int64_t* offsets,
                  bool* mask) {
  ForEach(context, sizes.segments * sizes.max_length, Presence{sizes.max_length, offsets, mask},
          "PackSegments");
}

void ReverseRowBytes(CUDAContext& context, const StepSizes& sizes, const int64_t* lengths,
                     const void* x, void* y) {
  const auto make = [&](auto word, auto index) {
    using Word = decltype(word);
    using Index = decltype(index);
    return Reverse<Word, Index>{static_cast<Index>(sizes.batch),
                                WordsOf<Word, Index>(sizes.block_bytes), lengths,
                                static_cast<const Word*>(x), static_cast<Word*>(y)};
  };
  ForWords(context, static_cast<uint64_t>(sizes.block_bytes) | AddressBits(x) | AddressBits(y),
           sizes.steps * sizes.batch * sizes.block_bytes, make, "ReversePackedSegs");
}

void PadRowBytes(CUDAContext& context, const PaddedSizes& sizes, const int64_t* offsets,
                 const void* x, const void* before, const void* after, void* y) {
  const auto make = [&](auto word, auto index) {
    using Word = decltype(word);
    using Index = decltype(index);
    return Pad<Word, Index>{WordsOf<Word, Index>(sizes.block_bytes),
                            sizes,
                            offsets,
                            static_cast<const Word*>(x),
                            static_cast<const Word*>(before),
                            static_cast<const Word*>(after),
                            static_cast<Word*>(y)};
  };
  ForWords(context,
           static_cast<uint64_t>(sizes.block_bytes) | AddressBits(x) | AddressBits(before) |
               AddressBits(after) | AddressBits(y),
           sizes.rows * sizes.block_bytes, make, "AddPadding");
}

void TrimRowBytes(CUDAContext& context, const PaddedSizes& sizes, const int64_t* offsets,
                  const void* x, void* y) {
  const auto make = [&](auto word, auto index) {
    using Word = decltype(word);
    using Index = decltype(index);
    return Trim<Word, Index>{WordsOf<Word, Index>(sizes.block_bytes), sizes, offsets,
                             static_cast<const Word*>(x), static_cast<Word*>(y)};
  };
  ForWords(context, static_cast<uint64_t>(sizes.block_bytes) | AddressBits(x) | AddressBits(y),
           sizes.rows * sizes.block_bytes, make, "RemovePadding");
}

template <class T>
void SumPadding(CUDAContext& context, const PaddingSums& sizes, const int64_t* offsets, const T* x,
                T* before, T* after) {
  ForEachRow(context, sizes.block, SumColumn<T>{sizes, offsets, x, before, after}, "GatherPadding");
}
#define CAFFE2RT_SUM_PADDING(T) \
  template void SumPadding(CUDAContext&, const PaddingSums&, const int64_t*, const T*, T*, T*);
CAFFE2RT_SUM_PADDING(float)
CAFFE2RT_SUM_PADDING(double)
CAFFE2RT_SUM_PADDING(int32_t)
CAFFE2RT_SUM_PADDING(int64_t)
#undef CAFFE2RT_SUM_PADDING

}  // namespace caffe2rt
