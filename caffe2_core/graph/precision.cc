#include "caffe2_core/graph/precision.h"

#include "caffe2_core/base/enforce.h"

namespace caffe2rt {

const char* PrecisionName(Precision precision) {
  switch (precision) {
    case Precision::kBfloat16:
      return "bf16";
    case Precision::kInt8:
      return "int8";
    case Precision::kAuto:
      return "auto";
    default:
      return "f32";
  }
}

Precision ParsePrecision(const std::string& name) {
  for (const Precision precision : kPrecisions) {
    if (name == PrecisionName(precision)) return precision;
  }
  CAFFE_THROW("precision \"", name, "\", want f32, bf16, int8 or auto");
}

}  // namespace caffe2rt
