#pragma once
// ReadNetWithWeights (net_weights.h) for any bytes. Internal to the library.

#include <optional>

#include "caffe2_core/io/net_weights.h"
#include "caffe2_core/io/random_access_input.h"

namespace caffe2rt {

// Does not detect the kind of the bytes.
std::optional<NetWithWeights> ReadNetWithWeights(const RandomAccessInput& input);

}  // namespace caffe2rt
