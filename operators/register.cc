// Every built-in family; the one place that lists them.

#include "operators/conv/register.h"

#include "caffe2_core/runtime/builtin_operators.h"
#include "operators/elementwise/register.h"
#include "operators/fill/register.h"
#include "operators/image/register.h"
#include "operators/io/register.h"
#include "operators/matmul/register.h"
#include "operators/norm/register.h"
#include "operators/pool/register.h"
#include "operators/reduce/register.h"
#include "operators/select/register.h"
#include "operators/shape/register.h"

namespace caffe2rt {

void RegisterBuiltinOperators() {
  RegisterConvOperators();
  RegisterElementwiseOperators();
  RegisterFillOperators();
  RegisterImageOperators();
  RegisterIoOperators();
  RegisterMatmulOperators();
  RegisterNormOperators();
  RegisterPoolOperators();
  RegisterReduceOperators();
  RegisterSelectOperators();
  RegisterShapeOperators();
}

}  // namespace caffe2rt
