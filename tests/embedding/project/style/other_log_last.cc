// The header of another logging library comes after Caffe2's.
#include "caffe2/core/logging.h"
#include "caffe2/core/operator.h"
// Keep this order.
#include "other_log.h"
// Keep this order.
#include "test.h"

STYLE_TEST(AnotherLogMayFollow) {
  const int before = other_log::calls;
  const int a = 1, b = 1;
  LOG(INFO) << caffe2::vector<int>{1};
  CHECK_EQ(a, b) << "x";
  DCHECK_LT(a, b + 1);
  STYLE_EXPECT(other_log::calls == before + 3);
  CAFFE_ENFORCE_GT(b + 1, a);
}
