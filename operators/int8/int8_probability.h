#pragma once
// The quantization of results from 0 to 1: Int8Sigmoid and Int8Softmax.

#include "operators/int8/int8_operator.h"

namespace caffe2rt {

inline constexpr int32_t kProbabilitySteps = 256;

// THROWS unless the scale is 1/256 and the zero point 0.
inline void CheckProbabilityQuantization(const Quantization& output) {
  CAFFE_ENFORCE(output.scale * kProbabilitySteps == 1, "argument Y_scale is ", output.scale,
                ", want 0.00390625 (1/256): the result is from 0 to 1");
  CAFFE_ENFORCE_EQ(output.zero_point, 0, "argument Y_zero_point: the result is from 0 to 1");
}

}  // namespace caffe2rt
