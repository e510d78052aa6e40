#include <chrono>

#include "tests/support/operator_test.h"

namespace caffe2rt::test::wall_clock_time_test {
namespace {

// A clock that is set back between the reads would be no fault, so only the scale is tested.
TEST(WallClockTimeTest, ReturnsNanoseconds) {
  using std::chrono::system_clock;
  const auto now = [] {
    return std::chrono::duration_cast<std::chrono::hours>(system_clock::now().time_since_epoch());
  };
  Workspace ws;
  RunOp(&ws, R"(type: "WallClockTime" output: "T")");
  EXPECT_EQ(DimsOf(ws, "T"), std::vector<int64_t>{});
  const std::chrono::nanoseconds time(Fetch<int64_t>(ws, "T")[0]);
  const auto hours = std::chrono::duration_cast<std::chrono::hours>(time);
  EXPECT_LE((hours - now()).count(), 1000);
  EXPECT_GE((hours - now()).count(), -1000);
}

}  // namespace
}  // namespace caffe2rt::test::wall_clock_time_test
