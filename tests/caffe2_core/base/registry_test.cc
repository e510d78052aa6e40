#include "caffe2_core/base/registry.h"

#include <gtest/gtest.h>

#include <memory>

namespace caffe2rt::registry_test {
namespace {

using Numbers = Registry<std::string, std::unique_ptr<int>, int>;

std::unique_ptr<int> Twice(int n) { return std::make_unique<int>(2 * n); }

TEST(RegistryTest, CreatesWithArguments) {
  Numbers registry;
  EXPECT_TRUE(registry.Register("twice", Twice, "a.cc", "doubles"));
  ASSERT_TRUE(registry.Has("twice"));
  EXPECT_EQ(*registry.Create("twice", 4), 8);
  EXPECT_EQ(registry.Keys(), std::vector<std::string>{"twice"});
  EXPECT_EQ(registry.File("twice"), "a.cc");
  EXPECT_EQ(registry.HelpMessage("twice"), "doubles");
}

TEST(RegistryTest, UnknownKeyGivesNull) {
  Numbers registry;
  EXPECT_EQ(registry.Create("nope", 1), nullptr);
  EXPECT_FALSE(registry.Has("nope"));
  EXPECT_EQ(registry.File("nope"), "");
  EXPECT_EQ(registry.HelpMessage("nope"), "");
}

TEST(RegistryTest, SecondRegistrationIsReportedWithBothFiles) {
  Numbers registry("operator");
  registry.Register("twice", Twice, "a.cc");
  EXPECT_FALSE(registry.Register(
      "twice", [](int) { return nullptr; }, "b.cc"));
  EXPECT_EQ(*registry.Create("twice", 4), 8);  // the first registration is kept
  try {
    registry.ThrowConflicts();
    FAIL() << "did not throw";
  } catch (const EnforceNotMet& error) {
    EXPECT_EQ(error.message(), "operator \"twice\" is registered twice: in a.cc and in b.cc");
  }
  registry.ThrowConflicts();  // reported once
}

}  // namespace
}  // namespace caffe2rt::registry_test
