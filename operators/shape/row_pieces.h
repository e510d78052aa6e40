#pragma once
// What Concat and Split share: rows that are made of pieces, one after the other, and for each
// piece a tensor that holds its part of all the rows.

#include <cstdint>
#include <span>

#include "caffe2_core/base/type_meta.h"
#include "operators/shape/row_pieces_kernels.h"

namespace caffe2rt {

class CPUContext;

// `rows` rows of `joined` from the pieces, or the pieces from them. Memory does not overlap. On
// CUDA elements with constructors THROW.
void JoinRows(CPUContext& context, TypeMeta type, int64_t rows, std::span<const SourcePiece> pieces,
              void* joined);
void JoinRows(CUDAContext& context, TypeMeta type, int64_t rows,
              std::span<const SourcePiece> pieces, void* joined);
void SplitRows(CPUContext& context, TypeMeta type, int64_t rows, const void* joined,
               std::span<const TargetPiece> pieces);
void SplitRows(CUDAContext& context, TypeMeta type, int64_t rows, const void* joined,
               std::span<const TargetPiece> pieces);

}  // namespace caffe2rt
