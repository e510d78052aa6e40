#pragma once
// Which sanitizers the build uses.

namespace caffe2rt::test {

#if defined(__has_feature)
#define CAFFE2RT_TEST_HAS_FEATURE(name) __has_feature(name)
#else
#define CAFFE2RT_TEST_HAS_FEATURE(name) 0
#endif

#if defined(__SANITIZE_THREAD__) || CAFFE2RT_TEST_HAS_FEATURE(thread_sanitizer)
inline constexpr bool kHasThreadSanitizer = true;
#else
inline constexpr bool kHasThreadSanitizer = false;
#endif

// With it, calls that only touch memory take about ten times as long.
#if defined(__SANITIZE_ADDRESS__) || CAFFE2RT_TEST_HAS_FEATURE(address_sanitizer)
inline constexpr bool kHasAddressSanitizer = true;
#else
inline constexpr bool kHasAddressSanitizer = false;
#endif

#undef CAFFE2RT_TEST_HAS_FEATURE

}  // namespace caffe2rt::test
