#include "caffe2_core/executors/net_types.h"

#include <gtest/gtest.h>

#include "caffe2_core/runtime/net.h"

namespace caffe2rt::test::net_types_test {
namespace {

TEST(NetTypesTest, TypesThatRunAsSimpleAreKnown) {
  for (const char* type : {"dag", "async_scheduling", "prof_dag", "parallel", "rnn"}) {
    EXPECT_TRUE(RunsAsSimple(type)) << type;
    EXPECT_TRUE(IsKnownNetType(type)) << type;
  }
  EXPECT_FALSE(RunsAsSimple("simple"));
  EXPECT_TRUE(IsKnownNetType("simple"));
  EXPECT_FALSE(RunsAsSimple("nope"));
}

}  // namespace
}  // namespace caffe2rt::test::net_types_test
