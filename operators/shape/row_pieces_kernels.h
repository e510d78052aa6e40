#pragma once
// The kernels of Concat and Split on CUDA (row_pieces.h).

#include <cstdint>
#include <span>

namespace caffe2rt {

class CUDAContext;

struct SourcePiece {
  const void* data = nullptr;
  int64_t items = 0;  // in a row; if 0, `data` may be null
};
struct TargetPiece {
  void* data = nullptr;
  int64_t items = 0;
};

// JoinRows and SplitRows for items of `item_bytes` bytes.
void JoinPlainRows(CUDAContext& context, int64_t item_bytes, int64_t rows,
                   std::span<const SourcePiece> pieces, void* joined);
void SplitPlainRows(CUDAContext& context, int64_t item_bytes, int64_t rows, const void* joined,
                    std::span<const TargetPiece> pieces);

// Returns the number of items in a joined row.
template <class Piece>
int64_t RowItems(std::span<const Piece> pieces) {
  int64_t items = 0;
  for (const Piece& piece : pieces) items += piece.items;
  return items;
}

}  // namespace caffe2rt
