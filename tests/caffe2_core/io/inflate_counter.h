#pragma once
// Counts the bytes that zlib inflates in this process, also within libpng. This measures the work
// that a decompression bomb causes, without a clock.

#include <cstdint>

namespace caffe2rt::test {

// The number of bytes that inflate() has produced so far.
uint64_t InflatedBytes();

}  // namespace caffe2rt::test
