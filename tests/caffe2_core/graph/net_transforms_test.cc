#include "caffe2_core/graph/net_transforms.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace caffe2rt::net_transforms_test {
namespace {

NetDef Renamed(const NetDef& net) {
  NetDef renamed = net;
  renamed.set_name("renamed");
  return renamed;
}

// As a module does.
const bool kRegistered = RegisterNetTransform("net_transforms_test", &Renamed);

TEST(NetTransformsTest, FindsWhatWasRegistered) {
  EXPECT_TRUE(kRegistered);
  const NetTransform* const transform = FindNetTransform("net_transforms_test");
  ASSERT_NE(transform, nullptr);
  EXPECT_EQ((*transform)(NetDef()).name(), "renamed");
  EXPECT_EQ(FindNetTransform("net_transforms_tes"), nullptr);
  EXPECT_THAT(NetTransformNames(), testing::Contains("net_transforms_test"));
}

TEST(NetTransformsTest, KeepsTheFirstOfAName) {
  EXPECT_FALSE(RegisterNetTransform("net_transforms_test", [](const NetDef& net) { return net; }));
  EXPECT_EQ((*FindNetTransform("net_transforms_test"))(NetDef()).name(), "renamed");
}

}  // namespace
}  // namespace caffe2rt::net_transforms_test
