#include "caffe2_core/graph/precision.h"

#include "caffe2_core/base/enforce.h"

namespace caffe2rt {

const char* PrecisionName(Precision precision) {
  return precision == Precision::kBfloat16 ? "bf16" : "f32";
}

Precision ParsePrecision(const std::string& name) {
  for (const Precision precision : {Precision::kFloat32, Precision::kBfloat16}) {
    if (name == PrecisionName(precision)) return precision;
  }
  CAFFE_THROW("precision \"", name, "\", want f32 or bf16");
}

}  // namespace caffe2rt
