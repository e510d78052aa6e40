#include <algorithm>
#include <type_traits>

#include "contexts/cuda/cuda_kernel.cuh"
#include "operators/common/words.cuh"
#include "operators/shape/row_pieces_kernels.h"

namespace caffe2rt {

namespace {

constexpr int kPieces = 16;  // for each kernel launch; more pieces need more launches

// A thread moves one word of these pieces in the joined rows. Joined is const Word for Split, Piece
// is const Word for Concat.
template <class Joined, class Piece, class Index>
struct MovePieces {
  Joined* joined;      // start of the first piece in the first row
  int64_t joined_row;  // distance of rows in words
  Index row_words;     // words of these pieces in a row
  int count;
  Piece* data[kPieces];
  Index begin[kPieces + 1];  // start of each piece within row_words, then the end

  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    const Index at = static_cast<Index>(i), column = at % row_words;
    const int64_t row = at / row_words;
    int p = 0;
    while (p + 1 < count && column >= begin[p + 1]) ++p;
    const int64_t piece_row = begin[p + 1] - begin[p];
    Joined& one = joined[row * joined_row + column];
    Piece& other = data[p][row * piece_row + (column - begin[p])];
    if constexpr (std::is_const_v<Joined>) {
      other = one;
    } else {
      one = other;
    }
  }
};

template <class Joined, class Piece, class Index, class RowPiece>
void MoveSome(CUDAContext& context, const char* name, int64_t rows, int64_t item, int64_t row_items,
              Joined* joined, std::span<const RowPiece> pieces) {
  constexpr int64_t kBytes = sizeof(Piece);
  MovePieces<Joined, Piece, Index> move{};
  move.joined = joined;
  move.joined_row = row_items * item / kBytes;
  for (const RowPiece& piece : pieces) {
    if (piece.items == 0) continue;
    move.data[move.count] = static_cast<Piece*>(piece.data);
    move.row_words += static_cast<Index>(piece.items * item / kBytes);
    move.begin[++move.count] = move.row_words;
  }
  ForEach(context, rows * static_cast<int64_t>(move.row_words), move, name);
}

template <class Void, class RowPiece>
void MoveAll(CUDAContext& context, const char* name, int64_t item, int64_t rows, Void* joined,
             std::span<const RowPiece> pieces) {
  using Byte = std::conditional_t<std::is_const_v<Void>, const char, char>;
  const int64_t row = RowItems(pieces);
  if (rows == 0 || row == 0) return;
  for (size_t first = 0; first < pieces.size(); first += kPieces) {
    const auto some = pieces.subspan(first, std::min<size_t>(kPieces, pieces.size() - first));
    uint64_t bits = AddressBits(joined) | static_cast<uint64_t>(row * item);
    for (const RowPiece& piece : some) {
      if (piece.items > 0)
        bits |= AddressBits(piece.data) | static_cast<uint64_t>(piece.items * item);
    }
    ForWord(bits, rows * row * item, [&](auto word, auto index) {
      using Word = decltype(word);
      if constexpr (std::is_const_v<Void>) {
        MoveSome<const Word, Word, decltype(index)>(context, name, rows, item, row,
                                                    static_cast<const Word*>(joined), some);
      } else {
        MoveSome<Word, const Word, decltype(index)>(context, name, rows, item, row,
                                                    static_cast<Word*>(joined), some);
      }
    });
    joined = static_cast<Byte*>(joined) + RowItems(some) * item;
  }
}

}  // namespace

void JoinPlainRows(CUDAContext& context, int64_t item_bytes, int64_t rows,
                   std::span<const SourcePiece> pieces, void* joined) {
  MoveAll(context, "Concat", item_bytes, rows, joined, pieces);
}

void SplitPlainRows(CUDAContext& context, int64_t item_bytes, int64_t rows, const void* joined,
                    std::span<const TargetPiece> pieces) {
  MoveAll(context, "Split", item_bytes, rows, joined, pieces);
}

}  // namespace caffe2rt
