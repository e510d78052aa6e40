#pragma once
// What Concat and Split share: rows that are made of pieces, one after the other, and for each
// piece a tensor that holds its part of all the rows.

#include <cstdint>

#include "caffe2_core/base/array_ref.h"
#include "caffe2_core/base/type_meta.h"

namespace caffe2rt {

class CPUContext;
class CUDAContext;

struct SourcePiece {
  const void* data = nullptr;
  int64_t items = 0;  // of a row; none: the data may be null
};
struct TargetPiece {
  void* data = nullptr;
  int64_t items = 0;
};

// `rows` rows of `joined` from the pieces, or the pieces from them. Memory does not overlap. On
// CUDA elements with constructors THROW.
void JoinRows(CPUContext& context, TypeMeta type, int64_t rows, ArrayRef<SourcePiece> pieces,
              void* joined);
void JoinRows(CUDAContext& context, TypeMeta type, int64_t rows, ArrayRef<SourcePiece> pieces,
              void* joined);
void SplitRows(CPUContext& context, TypeMeta type, int64_t rows, const void* joined,
               ArrayRef<TargetPiece> pieces);
void SplitRows(CUDAContext& context, TypeMeta type, int64_t rows, const void* joined,
               ArrayRef<TargetPiece> pieces);

// Items of a joined row.
template <class Piece>
int64_t RowItems(ArrayRef<Piece> pieces) {
  int64_t items = 0;
  for (const Piece& piece : pieces) items += piece.items;
  return items;
}

}  // namespace caffe2rt
