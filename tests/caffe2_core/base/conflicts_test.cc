#include "caffe2_core/base/conflicts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mutex>
#include <thread>

namespace caffe2rt::conflicts_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::mutex g_mutex;
std::vector<std::string> g_recorded;

void Record(const std::string& conflict) {
  std::lock_guard<std::mutex> lock(g_mutex);
  g_recorded.push_back(conflict);
}

std::vector<std::string> TakeRecorded() {
  std::lock_guard<std::mutex> lock(g_mutex);
  return std::exchange(g_recorded, {});
}

// Returns the message of ReportConflicts, or "" if it did not throw.
std::string Report() {
  try {
    ReportConflicts(TakeRecorded);
    return "";
  } catch (const EnforceNotMet& error) {
    return error.message();
  }
}

TEST(ConflictsTest, OfTheProgramAreThrownByTheFirstLookUp) {
  Record("a");
  Record("b");
  EXPECT_THAT(Report(), HasSubstr("a; b"));
  EXPECT_EQ(Report(), "");
}

TEST(ConflictsTest, OfAModuleAreKeptForItsLoad) {
  ModuleLoading loading(TakeRecorded);
  Record("a");
  std::string other = "not run";
  std::thread([&] { other = Report(); }).join();
  EXPECT_EQ(other, "");
  Record("b");
  EXPECT_THAT(loading.Finish(), ElementsAre("a", "b"));
  EXPECT_EQ(Report(), "");
}

// A module may look something up several times while it is loaded.
TEST(ConflictsTest, AllOfALoadAreKeptInOrder) {
  ModuleLoading loading(TakeRecorded);
  Record("a");
  Record("b");
  EXPECT_EQ(Report(), "");
  Record("c");
  EXPECT_EQ(Report(), "");
  EXPECT_EQ(Report(), "");
  Record("d");
  EXPECT_THAT(loading.Finish(), ElementsAre("a", "b", "c", "d"));
  EXPECT_EQ(Report(), "");
}

TEST(ConflictsTest, OfTheProgramAreNotTheModules) {
  Record("a");
  try {
    ModuleLoading loading(TakeRecorded);
    ADD_FAILURE() << "did not throw";
  } catch (const EnforceNotMet& error) {
    EXPECT_THAT(error.message(), HasSubstr("a"));
  }
  ModuleLoading loading(TakeRecorded);
  EXPECT_THAT(loading.Finish(), IsEmpty());
}

TEST(ConflictsTest, OfALoadThatFailedAreNotLost) {
  {
    ModuleLoading loading(TakeRecorded);
    Record("a");
    EXPECT_EQ(Report(), "");
  }
  EXPECT_THAT(Report(), HasSubstr("a"));
  EXPECT_EQ(Report(), "");
}

TEST(ConflictsTest, OfNestedLoadsGoToTheInnermostThatEnds) {
  ModuleLoading outer(TakeRecorded);
  Record("outer");
  {
    ModuleLoading inner(TakeRecorded);  // what is recorded is not reported: a load is in progress
    Record("inner");
    EXPECT_THAT(inner.Finish(), ElementsAre("outer", "inner"));
  }
  Record("later");
  EXPECT_EQ(Report(), "") << "the outer load is still in progress";
  EXPECT_THAT(outer.Finish(), ElementsAre("later"));
  Record("program");
  EXPECT_EQ(Report(), "program");
}

TEST(ConflictsTest, AreAppendedToThoseBeforeIfTheyAreErrors) {
  std::vector<std::string> all = {"first"};
  AppendConflicts([] { CAFFE_THROW("second"); }, &all);
  AppendConflicts([] {}, &all);
  EXPECT_THAT(all, ElementsAre("first", "second"));
  EXPECT_NO_THROW(ThrowAny({}));
}

}  // namespace
}  // namespace caffe2rt::conflicts_test
