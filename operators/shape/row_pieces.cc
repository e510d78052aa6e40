#include "operators/shape/row_pieces.h"

#include "operators/common/copy_rows.h"

namespace caffe2rt {

void JoinRows(CPUContext& context, TypeMeta type, int64_t rows, std::span<const SourcePiece> pieces,
              void* joined) {
  const int64_t row = RowItems(pieces);
  int64_t offset = 0;
  for (const SourcePiece& piece : pieces) {
    CopyRows(context, type, rows, piece.items, piece.data, piece.items,
             ItemAt(joined, type, offset), row);
    offset += piece.items;
  }
}

void SplitRows(CPUContext& context, TypeMeta type, int64_t rows, const void* joined,
               std::span<const TargetPiece> pieces) {
  const int64_t row = RowItems(pieces);
  int64_t offset = 0;
  for (const TargetPiece& piece : pieces) {
    CopyRows(context, type, rows, piece.items, ItemAt(joined, type, offset), row, piece.data,
             piece.items);
    offset += piece.items;
  }
}

}  // namespace caffe2rt
