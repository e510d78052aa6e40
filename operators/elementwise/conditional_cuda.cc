#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/elementwise/conditional.h"
#include "operators/elementwise/where_kernels.h"

namespace caffe2rt {

void SelectItems(CUDAContext& context, TypeMeta type, int64_t rows, int64_t length, const bool* c,
                 const void* x, const void* z, void* y) {
  CAFFE_ENFORCE(type.IsPlainData(), "input 1 (X) has elements of type ", type.name(),
                ", which are supported on the CPU only");
  SelectRowsOfBytes(context, rows, static_cast<size_t>(length) * type.itemsize(), c, x, z, y);
}

void RegisterConditionalCuda() {
  RegisterOperator<ConditionalOp<CUDAContext>>(CUDA, "Conditional", __FILE__);
}

}  // namespace caffe2rt
