#pragma once
// The bytes of a model without the elements of its tensors.

#include <string>

#include "caffe2_core/io/random_access_input.h"

namespace caffe2rt {

// Copies the ModelProto in the input. In place of raw_data and of packed float_data and double_data,
// the tensors have the fields span_offset, span_size and span_field. THROWS if the bytes are not a
// message, or messages are nested too deep.
std::string OnnxSkeleton(const RandomAccessInput& input, const std::string& subject);

}  // namespace caffe2rt
