#include "operators/elementwise/conditional.h"

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"

namespace caffe2rt {

void SelectItems(CPUContext& context, TypeMeta type, int64_t rows, int64_t length, const bool* c,
                 const void* x, const void* z, void* y) {
  for (int64_t i = 0; i < rows; ++i) {
    CopyRow(context, type, length, ItemAt(c[i] ? x : z, type, i * length),
            ItemAt(y, type, i * length));
  }
}

void RegisterConditional() {
  RegisterSchema("Conditional", __FILE__)
      .NumInputs(3)
      .NumOutputs(1)
      .Input(0, "C", "bool [N]: true for the rows that come from X")
      .Input(1, "X", "[N, *], any type")
      .Input(2, "Z", "shape and type of X")
      .Output(0, "Y", "shape and type of X")
      .IdenticalTypeAndShapeOfInput(1)
      .Traits({.family = OperatorFamily::kElementwise})
      .SetDoc("Row i of Y is row i of X if C[i] is true, else row i of Z.");
  RegisterCpuOperator<ConditionalOp<CPUContext>>("Conditional", __FILE__);
  // As in Caffe2, the backward pass ends here.
  RegisterGradient<NoGradient>("Conditional", __FILE__);
}

}  // namespace caffe2rt
