#include "caffe2_core/base/enforce.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <stdexcept>

namespace caffe2rt::enforce_test {
namespace {

std::string MessageOf(const std::function<void()>& function) {
  try {
    function();
  } catch (const EnforceNotMet& error) {
    return error.message();
  }
  return "did not throw";
}

TEST(EnforceTest, PassingChecksDoNotFormatTheirParts) {
  int formatted = 0;
  const auto part = [&] {
    ++formatted;
    return 1;
  };
  CAFFE_ENFORCE(true, "value ", part());
  EXPECT_EQ(formatted, 0);
}

TEST(EnforceTest, ConditionIsEvaluatedOnce) {
  int calls = 0;
  CAFFE_ENFORCE(++calls, "calls");
  CAFFE_ENFORCE_EQ(++calls, 2, "calls");
  EXPECT_EQ(calls, 2);
}

TEST(EnforceTest, TakesPointersAndSmartPointersAsConditions) {
  const auto owner = std::make_unique<int>(3);
  CAFFE_ENFORCE(owner, "owner");
  CAFFE_ENFORCE(owner.get(), "pointer");
  EXPECT_EQ(MessageOf([] { CAFFE_ENFORCE(std::unique_ptr<int>(), "no owner"); }), "no owner");
}

TEST(EnforceTest, MessageHoldsThePartsAlone) {
  EXPECT_EQ(MessageOf([] { CAFFE_ENFORCE(1 > 2, "got ", 3, ", want ", 4.5); }), "got 3, want 4.5");
}

TEST(EnforceTest, WhatNamesFileLineAndCondition) {
  try {
    CAFFE_ENFORCE(1 > 2, "text");
    FAIL() << "did not throw";
  } catch (const std::exception& error) {
    const std::string what = error.what();
    EXPECT_NE(what.find("[enforce fail at enforce_test.cc:"), std::string::npos) << what;
    EXPECT_NE(what.find("1 > 2. text"), std::string::npos) << what;
  }
}

TEST(EnforceTest, ComparisonPrintsBothValues) {
  EXPECT_EQ(MessageOf([] { CAFFE_ENFORCE_EQ(2 * 3, 1, "text"); }), "6 vs 1. text");
  EXPECT_EQ(MessageOf([] { CAFFE_ENFORCE_LT(2, 1); }), "2 vs 1");
  EXPECT_EQ(MessageOf([] { CAFFE_ENFORCE_NE(2, 2); }), "2 vs 2");
  EXPECT_EQ(MessageOf([] { CAFFE_ENFORCE_LE(3, 2); }), "3 vs 2");
  EXPECT_EQ(MessageOf([] { CAFFE_ENFORCE_GE(1, 2); }), "1 vs 2");
  EXPECT_EQ(MessageOf([] { CAFFE_ENFORCE_GT(2, 2); }), "2 vs 2");
}

TEST(EnforceTest, ComparesIntegersByValueNotByBits) {
  const size_t big = 3;
  CAFFE_ENFORCE_LT(-1, big, "a negative number is less than any size");
  EXPECT_EQ(MessageOf([&] { CAFFE_ENFORCE_GT(-1, big); }), "-1 vs 3");
  EXPECT_EQ(MessageOf([&] { CAFFE_ENFORCE_EQ(-1, UINT32_MAX); }), "-1 vs 4294967295");
}

TEST(EnforceTest, FramesComeFromTheOutsideIn) {
  try {
    CAFFE_THROW("bad ", 1);
  } catch (EnforceNotMet& error) {
    error.AppendMessage("operator 3 (Conv)");
    error.AppendMessage("net \"n\"");
    EXPECT_EQ(error.message(), "net \"n\": operator 3 (Conv): bad 1");
    EXPECT_EQ(error.msg_stack().size(), 3u);
    EXPECT_NE(error.msg().find("operator 3 (Conv)\nnet \"n\""), std::string::npos) << error.msg();
  }
}

TEST(EnforceTest, CallerIsKept) {
  struct Asked {
    void Fail() { CAFFE_ENFORCE_WITH_CALLER(false, "no"); }
  } asked;
  try {
    asked.Fail();
    FAIL() << "did not throw";
  } catch (const EnforceNotMet& error) {
    EXPECT_EQ(error.caller(), &asked);
  }
}

TEST(EnforceTest, CurrentExceptionMessageTakesAnyException) {
  try {
    throw std::runtime_error("plain");
  } catch (...) {
    EXPECT_EQ(CurrentExceptionMessage(), "plain");
  }
  try {
    throw 3;
  } catch (...) {
    EXPECT_EQ(CurrentExceptionMessage(), "unknown exception");
  }
}

TEST(EnforceTest, NotImplementedSaysSo) {
  EXPECT_EQ(MessageOf([] { CAFFE_NOT_IMPLEMENTED; }), "Not Implemented.");
}

TEST(MakeStringTest, JoinsPartsAndContainers) {
  EXPECT_EQ(MakeString("a", 1, '-', 2.5), "a1-2.5");
  EXPECT_EQ(MakeString(), "");
  EXPECT_EQ(Join(", ", std::vector<int>{1, 2, 3}), "1, 2, 3");
  EXPECT_EQ(Join(", ", std::vector<int>{}), "");
}

TEST(MakeStringTest, NamesANullPointerToText) {
  const char* const none = nullptr;
  EXPECT_EQ(MakeString("name ", none, "."), "name (null).");
}

}  // namespace
}  // namespace caffe2rt::enforce_test
