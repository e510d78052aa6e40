#include "operators/shape/row_pieces.h"

#include "operators/common/copy_rows.h"

namespace caffe2rt {

void JoinRows(CPUContext& context, TypeMeta type, int64_t rows, std::span<const SourcePiece> pieces,
              void* joined) {
  const int64_t row = RowItems(pieces);
  int64_t offset = 0;
  for (const SourcePiece& piece : pieces) {
    void* const place = ItemAt(joined, type, offset);
    if (piece.data != place) {  // it may already be there, see parts_in_place.h
      CopyRows(context, type, rows, piece.items, piece.data, piece.items, place, row);
    }
    offset += piece.items;
  }
}

void SplitRows(CPUContext& context, TypeMeta type, int64_t rows, const void* joined,
               std::span<const TargetPiece> pieces) {
  const int64_t row = RowItems(pieces);
  int64_t offset = 0;
  for (const TargetPiece& piece : pieces) {
    const void* const place = ItemAt(joined, type, offset);
    if (piece.data != place) {
      CopyRows(context, type, rows, piece.items, place, row, piece.data, piece.items);
    }
    offset += piece.items;
  }
}

}  // namespace caffe2rt
