#include "operators/common/copy_rows.h"
#include "operators/shape/row_pieces.h"

namespace caffe2rt {

void JoinRows(CUDAContext& context, TypeMeta type, int64_t rows,
              std::span<const SourcePiece> pieces, void* joined) {
  JoinPlainRows(context, PlainItemBytes(type), rows, pieces, joined);
}

void SplitRows(CUDAContext& context, TypeMeta type, int64_t rows, const void* joined,
               std::span<const TargetPiece> pieces) {
  SplitPlainRows(context, PlainItemBytes(type), rows, joined, pieces);
}

}  // namespace caffe2rt
