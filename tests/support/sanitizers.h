#pragma once
// Which sanitizers the build uses. Not macros, because tests may be compiled without the sanitizers of
// their program (caffe2rt_plain_test).

namespace caffe2rt::test {

extern const bool kHasThreadSanitizer;

// With it, calls that only touch memory take about ten times as long.
extern const bool kHasAddressSanitizer;

}  // namespace caffe2rt::test
