// Every built-in family; the one place that lists them.

#include "caffe2_core/runtime/builtin_operators.h"
#if __has_include("operators/conv/register.h")
#include "operators/conv/register.h"
#endif
#if __has_include("operators/elementwise/register.h")
#include "operators/elementwise/register.h"
#endif
#if __has_include("operators/fill/register.h")
#include "operators/fill/register.h"
#endif
#if __has_include("operators/image/register.h")
#include "operators/image/register.h"
#endif
#if __has_include("operators/io/register.h")
#include "operators/io/register.h"
#endif
#if __has_include("operators/matmul/register.h")
#include "operators/matmul/register.h"
#endif
#if __has_include("operators/norm/register.h")
#include "operators/norm/register.h"
#endif
#if __has_include("operators/pool/register.h")
#include "operators/pool/register.h"
#endif
#if __has_include("operators/reduce/register.h")
#include "operators/reduce/register.h"
#endif
#if __has_include("operators/select/register.h")
#include "operators/select/register.h"
#endif
#if __has_include("operators/shape/register.h")
#include "operators/shape/register.h"
#endif

namespace caffe2rt {

void RegisterBuiltinOperators() {
#if __has_include("operators/conv/register.h")
  RegisterConvOperators();
#endif
#if __has_include("operators/elementwise/register.h")
  RegisterElementwiseOperators();
#endif
#if __has_include("operators/fill/register.h")
  RegisterFillOperators();
#endif
#if __has_include("operators/image/register.h")
  RegisterImageOperators();
#endif
#if __has_include("operators/io/register.h")
  RegisterIoOperators();
#endif
#if __has_include("operators/matmul/register.h")
  RegisterMatmulOperators();
#endif
#if __has_include("operators/norm/register.h")
  RegisterNormOperators();
#endif
#if __has_include("operators/pool/register.h")
  RegisterPoolOperators();
#endif
#if __has_include("operators/reduce/register.h")
  RegisterReduceOperators();
#endif
#if __has_include("operators/select/register.h")
  RegisterSelectOperators();
#endif
#if __has_include("operators/shape/register.h")
  RegisterShapeOperators();
#endif
}

}  // namespace caffe2rt
