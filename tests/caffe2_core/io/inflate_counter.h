#pragma once
// Counts what zlib inflates in this process, also within libpng: the work that a bomb makes,
// measured without a clock.

#include <cstdint>

namespace caffe2rt::test {

// Bytes that inflate() gave so far.
uint64_t InflatedBytes();

}  // namespace caffe2rt::test
