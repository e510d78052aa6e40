#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/shape/tile.h"
#include "operators/shape/tile_kernels.h"

namespace caffe2rt {

void TileRows(CUDAContext& context, TypeMeta type, int64_t outer, int64_t inner, int64_t tiles,
              const void* x, void* y) {
  TileRowBytes(context, outer, inner * PlainItemBytes(type), tiles, x, y);
}

void RegisterTileCuda() {
  RegisterOperator<TileOp<CUDAContext>>(CUDA, "Tile", __FILE__);
  RegisterOperator<TileGradientOp<CUDAContext>>(CUDA, "TileGradient", __FILE__);
}

}  // namespace caffe2rt
