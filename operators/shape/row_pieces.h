#pragma once
// The common part of Concat and Split: each row of the joined tensor consists of pieces, one after
// the other, and each piece has a tensor that holds its part of all rows.

#include <cstdint>
#include <span>

#include "caffe2_core/base/type_meta.h"
#include "operators/shape/row_pieces_kernels.h"

namespace caffe2rt {

class CPUContext;

// JoinRows copies `rows` rows from the pieces to `joined`; SplitRows copies them back. The memory
// must not overlap. On CUDA, element types with constructors THROW.
void JoinRows(CPUContext& context, TypeMeta type, int64_t rows, std::span<const SourcePiece> pieces,
              void* joined);
void JoinRows(CUDAContext& context, TypeMeta type, int64_t rows,
              std::span<const SourcePiece> pieces, void* joined);
void SplitRows(CPUContext& context, TypeMeta type, int64_t rows, const void* joined,
               std::span<const TargetPiece> pieces);
void SplitRows(CUDAContext& context, TypeMeta type, int64_t rows, const void* joined,
               std::span<const TargetPiece> pieces);

}  // namespace caffe2rt
