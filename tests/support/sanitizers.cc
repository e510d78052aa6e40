#include "tests/support/sanitizers.h"

namespace caffe2rt::test {

#if defined(__has_feature)
#define CAFFE2RT_TEST_HAS_FEATURE(name) __has_feature(name)
#else
#define CAFFE2RT_TEST_HAS_FEATURE(name) 0
#endif

#if defined(__SANITIZE_THREAD__) || CAFFE2RT_TEST_HAS_FEATURE(thread_sanitizer)
const bool kHasThreadSanitizer = true;
#else
const bool kHasThreadSanitizer = false;
#endif

#if defined(__SANITIZE_ADDRESS__) || CAFFE2RT_TEST_HAS_FEATURE(address_sanitizer)
const bool kHasAddressSanitizer = true;
#else
const bool kHasAddressSanitizer = false;
#endif

#undef CAFFE2RT_TEST_HAS_FEATURE

}  // namespace caffe2rt::test
