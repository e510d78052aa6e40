// Arithmetic, roots, exponentials and trigonometry of one number on CUDA.

#include "contexts/cuda/cuda_context.h"
#include "operators/elementwise/map.cuh"
#include "operators/elementwise/unary.h"
#include "operators/elementwise/unary_functions.h"

namespace caffe2rt {

void RegisterUnaryMathCuda() {
  RegisterUnaryCuda<Abs, float>("Abs", __FILE__);
  RegisterUnaryCuda<Sign, float, double, int32_t, int64_t>("Sign", __FILE__);
  RegisterUnaryCuda<Negative, float, double, int32_t, int64_t>("Negative", __FILE__);
  RegisterUnaryCuda<Floor, float>("Floor", __FILE__);
  RegisterUnaryCuda<Ceil, float>("Ceil", __FILE__);
  RegisterUnaryCuda<Mod, int32_t, int64_t>("Mod", __FILE__);
  RegisterUnaryCuda<Not, bool>("Not", __FILE__);
  RegisterUnaryCuda<IsNaN, float, double>("IsNaN", __FILE__);
  RegisterUnaryCuda<ReplaceNaN, float, double>("ReplaceNaN", __FILE__);
  RegisterUnaryCuda<Scale, float, double>("Scale", __FILE__);
  RegisterUnaryCuda<Sqr, float>("Sqr", __FILE__);
  RegisterUnaryCuda<Cube, float, double, int32_t, int64_t>("Cube", __FILE__);
  RegisterUnaryCuda<Sqrt, float, double>("Sqrt", __FILE__);
  RegisterUnaryCuda<Rsqrt, float>("Rsqrt", __FILE__);
  RegisterUnaryCuda<Cbrt, float>("Cbrt", __FILE__);
  RegisterUnaryCuda<Reciprocal, float>("Reciprocal", __FILE__);
  RegisterUnaryCuda<Exp, float>("Exp", __FILE__);
  RegisterUnaryCuda<Log, float>("Log", __FILE__);
  RegisterUnaryCuda<Erf, float>("Erf", __FILE__);
  RegisterUnaryCuda<Sin, float>("Sin", __FILE__);
  RegisterUnaryCuda<Cos, float>("Cos", __FILE__);
  RegisterUnaryCuda<Tan, float>("Tan", __FILE__);
  RegisterUnaryCuda<Asin, float>("Asin", __FILE__);
  RegisterUnaryCuda<Acos, float>("Acos", __FILE__);
  RegisterUnaryCuda<Atan, float>("Atan", __FILE__);
  RegisterUnaryCuda<Sinh, float>("Sinh", __FILE__);
  RegisterUnaryCuda<Cosh, float>("Cosh", __FILE__);
}

}  // namespace caffe2rt
