// The header of another logging library comes before Caffe2's: its macros stay.
#include "other_log.h"
// Keep this order.
#include "caffe2/core/logging.h"
#include "caffe2/core/operator.h"
#include "test.h"

STYLE_TEST(MacrosOfAnotherLogStay) {
  const int before = other_log::calls;
  const int a = 1, b = 1;
  LOG(INFO) << 1;
  CHECK_EQ(a, b) << "x";
  DCHECK_LT(a, b + 1);
  STYLE_EXPECT(other_log::calls == before + 3);
  CAFFE_ENFORCE_EQ(a, b, "Caffe2's own checks work beside them");
}
