// Modules that hold no engine which can be used: the reason is reported each time, and the engine is
// not listed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>

#include "operators/distributed/collective_engine.h"
#include "tests/support/refusals.h"
#include "tests/support/shared.h"

namespace caffe2rt::test::odd_engines_test {
namespace {

std::string OddModule() { return BuildPath(ODD_ENGINES); }

void NameModule(const std::string& engine, const std::string& file) {
  ASSERT_EQ(setenv(("CAFFE2_" + engine + "_MODULE").c_str(), file.c_str(), 1), 0);
}

std::map<std::string, CollectiveEnginePresence> ListedEngines() {
  std::map<std::string, CollectiveEnginePresence> engines;
  for (const CollectiveEnginePresence& engine : FindCollectiveEngines())
    engines.emplace(engine.name, engine);
  return engines;
}

TEST(OddEnginesTest, AnEngineOfAModuleIsListedWithItsPath) {
  NameModule("ODD_WHOLE", OddModule());
  const CollectiveEngine& engine = EnforceCollectiveEngine("ODD_WHOLE");
  EXPECT_EQ(engine.describe(), "a whole engine");
  EXPECT_EQ(&EnforceCollectiveEngine("ODD_WHOLE"), &engine);
  const auto engines = ListedEngines();
  ASSERT_TRUE(engines.contains("ODD_WHOLE"));
  EXPECT_TRUE(engines.at("ODD_WHOLE").available);
  EXPECT_EQ(engines.at("ODD_WHOLE").detail, "a whole engine");
  EXPECT_TRUE(std::filesystem::equivalent(engines.at("ODD_WHOLE").path, OddModule()));
}

TEST(OddEnginesTest, EnginesThatCannotBeUsedAreNamedWithTheReason) {
  const std::pair<std::string, std::string> rows[] = {
      {"ODD_OLD", "was built with another version of this library"},
      {"ODD_LONE", "cannot connect"},
      {"ODD_NULL", "returns no engine"},
      {"ODD_NONE", "does not export caffe2rt_odd_none_engine: it is not libcaffe2_odd_none"}};
  for (const auto& [name, why] : rows) {
    NameModule(name, OddModule());
    for (int times = 0; times < 2; ++times) {
      const std::string got =
          MessageOf([&, &engine = name] { (void)EnforceCollectiveEngine(engine); });
      EXPECT_THAT(got, testing::StartsWith("engine " + name + ": \""));
      EXPECT_THAT(got, testing::HasSubstr("\" " + why));
    }
    EXPECT_FALSE(ListedEngines().contains(name)) << name;
  }
}

// What was found first holds for the process.
TEST(OddEnginesTest, AFailureToLoadIsFinal) {
  NameModule("ODD_GONE", "/nowhere/libcaffe2_odd_gone.so");
  const std::string first = MessageOf([] { (void)EnforceCollectiveEngine("ODD_GONE"); });
  EXPECT_THAT(first, testing::StartsWith("engine ODD_GONE: "));
  EXPECT_THAT(first, testing::HasSubstr("/nowhere/libcaffe2_odd_gone.so"));
  NameModule("ODD_GONE", OddModule());
  EXPECT_EQ(MessageOf([] { (void)EnforceCollectiveEngine("ODD_GONE"); }), first);
  EXPECT_FALSE(ListedEngines().contains("ODD_GONE"));
}

// The letters of the name may be of either case; the file's are small, the variable's are large.
TEST(OddEnginesTest, NamesOfFilesAndVariablesFollowTheName) {
  NameModule("ODD_MIXED", OddModule());
  EXPECT_THAT(MessageOf([] { (void)EnforceCollectiveEngine("Odd_Mixed"); }),
              testing::EndsWith("does not export caffe2rt_odd_mixed_engine: it is not "
                                "libcaffe2_odd_mixed"));
}

}  // namespace
}  // namespace caffe2rt::test::odd_engines_test
