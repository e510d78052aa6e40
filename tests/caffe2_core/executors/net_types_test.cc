#include "caffe2_core/executors/net_types.h"

#include <gtest/gtest.h>

#include "caffe2_core/runtime/net.h"

namespace caffe2rt::test::net_types_test {
namespace {

TEST(NetTypesTest, OrdersOfBuiltinTypesAreKnown) {
  for (const char* type :
       {"dag", "prof_dag", "async_dag", "async_scheduling", "async_polling", "parallel"}) {
    EXPECT_EQ(OrderOfType(type), NetOrder::kByDependencies) << type;
    EXPECT_TRUE(IsKnownNetType(type)) << type;
  }
  for (const char* type : {"", "simple", "async_simple", "simple_refcount", "rnn"}) {
    EXPECT_EQ(OrderOfType(type), NetOrder::kOrderOfNet) << type;
    EXPECT_TRUE(IsKnownNetType(type)) << type;
  }
  EXPECT_EQ(OrderOfType("nope"), NetOrder::kUnknown);
}

}  // namespace
}  // namespace caffe2rt::test::net_types_test
