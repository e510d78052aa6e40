#include "caffe2_core/base/enforce.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <iomanip>
#include <memory>
#include <new>
#include <ostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

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

TEST(EnforceTest, AcceptsPointersAndSmartPointersAsConditions) {
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

TEST(EnforceTest, ComparisonReportsGotAndWant) {
  EXPECT_EQ(MessageOf([] { CAFFE_ENFORCE_EQ(2 * 3, 1, "text"); }), "text: got 6, want 1");
  EXPECT_EQ(MessageOf([] { CAFFE_ENFORCE_LT(2, 1); }), "got 2, want less than 1");
  EXPECT_EQ(MessageOf([] { CAFFE_ENFORCE_NE(2, 2); }), "got 2, want other than 2");
  EXPECT_EQ(MessageOf([] { CAFFE_ENFORCE_LE(3, 2); }), "got 3, want at most 2");
  EXPECT_EQ(MessageOf([] { CAFFE_ENFORCE_GE(1, 2); }), "got 1, want at least 2");
  EXPECT_EQ(MessageOf([] { CAFFE_ENFORCE_GT(2, 2); }), "got 2, want more than 2");
  EXPECT_EQ(MessageOf([] { CAFFE_ENFORCE_EQ(1, 2, "axes, want one per dim"); }),
            "axes, want one per dim (got 1, want 2)");
}

TEST(EnforceTest, ComparisonReadsItsOwnOperatorOnly) {
  const bool no = false;
  EXPECT_EQ(MessageOf([&] { CAFFE_ENFORCE_LT((no == true ? 1 : 3), 2); }),
            "got 3, want less than 2");
  EXPECT_EQ(MessageOf([&] { CAFFE_ENFORCE_EQ(no == true ? 1 : 3, 2, "text"); }),
            "text: got 3 and 2");
}

TEST(EnforceTest, WhatComparesAsCaffe2Does) {
  try {
    CAFFE_ENFORCE_EQ(2 * 3, 1, "text");
    FAIL() << "did not throw";
  } catch (const std::exception& error) {
    const std::string what = error.what();
    EXPECT_NE(what.find("2 * 3 == 1. 6 vs 1. text"), std::string::npos) << what;
  }
}

TEST(EnforceTest, ComparesIntegersByValueNotByBits) {
  const size_t big = 3;
  CAFFE_ENFORCE_LT(-1, big, "a negative number is less than any size");
  EXPECT_EQ(MessageOf([&] { CAFFE_ENFORCE_GT(-1, big); }), "got -1, want more than 3");
  EXPECT_EQ(MessageOf([&] { CAFFE_ENFORCE_EQ(-1, UINT32_MAX); }), "got -1, want 4294967295");
}

TEST(EnforceTest, ComparesAndPrintsAnyType) {
  EXPECT_EQ(MessageOf([] { CAFFE_ENFORCE_EQ(std::string("a"), "b"); }), "got a, want b");
  EXPECT_EQ(MessageOf([] {
              CAFFE_ENFORCE_EQ((std::vector<int>{1, 2}), std::vector<int>{3}, "dims");
            }),
            "dims: got [1, 2], want [3]");
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

TEST(EnforceTest, CurrentExceptionMessageHandlesAnyException) {
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

TEST(EnforceTest, NotImplementedStatesSo) {
  EXPECT_EQ(MessageOf([] { CAFFE_NOT_IMPLEMENTED; }), "Not Implemented.");
}

struct Point {
  int x, y;
};
std::ostream& operator<<(std::ostream& out, const Point& point) {
  return out << '<' << point.x << ';' << point.y << '>';
}
enum Plain { kThree = 3 };
enum class Named { kOne };
std::ostream& operator<<(std::ostream& out, Named) { return out << "one"; }

TEST(MakeStringTest, WritesPartsAsAStreamDoes) {
  EXPECT_EQ(MakeString(), "");
  EXPECT_EQ(MakeString("a", 1, '-', 2.5), "a1-2.5");
  EXPECT_EQ(MakeString(std::string("s\0t", 3), std::string_view("view").substr(1)),
            std::string("s\0tiew", 6));
  EXPECT_EQ(MakeString(INT64_MIN, " ", UINT64_MAX, " ", short{-3}),
            "-9223372036854775808 18446744073709551615 -3");
  EXPECT_EQ(MakeString(true, false), "10");
  EXPECT_EQ(MakeString(int8_t{'a'}, uint8_t{'b'}), "ab");
  EXPECT_EQ(MakeString(1e6, " ", 1234567.f, " ", 0.1f, " ", 123456.7),
            "1e+06 1.23457e+06 0.1 123457");
  EXPECT_EQ(MakeString(INFINITY, " ", -INFINITY, " ", NAN, " ", -NAN), "inf -inf nan -nan");
}

TEST(MakeStringTest, WritesOtherTypesByTheirOperator) {
  EXPECT_EQ(MakeString("at ", Point{1, 2}, " of ", 3), "at <1;2> of 3");
  EXPECT_EQ(MakeString(kThree, Named::kOne), "3one");
  EXPECT_EQ(MakeString(reinterpret_cast<void*>(0x1f)), "0x1f");
}

TEST(MakeStringTest, WritesTheElementsOfVectors) {
  EXPECT_EQ(MakeString(std::vector<int>{}, std::vector<int>{1, 2}), "[][1, 2]");
  EXPECT_EQ(MakeString(std::vector<bool>{true, false}), "[1, 0]");
  EXPECT_EQ(MakeString(std::vector<std::vector<std::string>>{{"a", "b"}, {}}), "[[a, b], []]");
  EXPECT_EQ(MakeString(std::vector<Point>{{1, 2}, {3, 4}}), "[<1;2>, <3;4>]");
}

TEST(MakeStringTest, ManipulatorsApplyToLaterParts) {
  EXPECT_EQ(
      MakeString(255, ' ', std::hex, 255, std::setw(4), 1, ' ', std::setprecision(3), 1.23456),
      "255 ff   1 1.23");
}

template <class... Parts>
std::string Streamed(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
}
// All parts as a stream of the standard library writes them, wherever the manipulators are.
template <class... Parts>
void ExpectAsStreamed(const Parts&... parts) {
  EXPECT_EQ(MakeString(parts...), Streamed(parts...));
}
TEST(MakeStringTest, ManipulatorsApplyToEveryKindOfPart) {
  const std::string word = "word";
  const std::string_view view = "view";
  ExpectAsStreamed(std::setw(6), "text", '|', std::setw(2), "text", '|', std::setw(6));
  ExpectAsStreamed(std::left, std::setw(6), word, '|', std::right, std::setw(6), view, '|');
  ExpectAsStreamed(word, std::setfill('*'), std::setw(3), 'c', std::setw(5), -12, std::setw(7), 1u);
  ExpectAsStreamed(1, view, std::fixed, std::setprecision(1), 2.25, ' ', 0.05f, std::setw(9), 1e3);
  ExpectAsStreamed(std::showbase, std::hex, 255, ' ', std::oct, int64_t{8}, std::dec, ' ', -1, "x");
  EXPECT_EQ(MakeString(std::setw(8), std::vector<int>{1, 2}, '|'), "  [1, 2]|");
  EXPECT_EQ(MakeString(1, Point{2, 3}, std::setw(3), "x"), "1<2;3>  x");
}

TEST(MakeStringTest, NamesANullPointerToText) {
  const char* const none = nullptr;
  EXPECT_EQ(MakeString("name ", none, "."), "name (null).");
}

TEST(EnforceTest, ComparisonsInBracketsOfAnOperandAreNotItsOwn) {
  const std::vector<int> three = {1, 2, 3};
  const bool no = false;
  const auto at = [&](size_t i) { return three[i]; };
  EXPECT_EQ(MessageOf([&] { CAFFE_ENFORCE_GE(three[no == true ? 0 : 1], 5); }),
            "got 2, want at least 5");
  EXPECT_EQ(MessageOf([&] { CAFFE_ENFORCE_GT(at(size_t{no == true ? 0u : 2u}), 5); }),
            "got 3, want more than 5");
  EXPECT_EQ(MessageOf([&] { CAFFE_ENFORCE_LE(at(2), (no != true ? 1 : 9), "rank"); }),
            "rank: got 3, want at most 1");
}

TEST(EnforceTest, ComparesNumbersOfOtherTypesAsCppDoes) {
  CAFFE_ENFORCE_EQ(0.5f, 0.5);
  CAFFE_ENFORCE_LT(0.5, 1);
  EXPECT_EQ(MessageOf([] { CAFFE_ENFORCE_LT(1.5, 1, "scale"); }),
            "scale: got 1.5, want less than 1");
  CAFFE_ENFORCE_LE(INT64_MAX, UINT64_MAX);
  CAFFE_ENFORCE_NE(-1, UINT64_MAX);
  CAFFE_ENFORCE_GE(UINT64_MAX, -1);
  EXPECT_EQ(MessageOf([] { CAFFE_ENFORCE_LE(UINT64_MAX, -1); }),
            "got 18446744073709551615, want at most -1");
}

TEST(EnforceTest, AnErrorThatIsRethrownHasTheFrameAndItsType) {
  const auto rethrown = [](const std::function<void()>& thrower) {
    try {
      thrower();
    } catch (...) {
      RethrowWithFrame("operator 2");
    }
  };
  EXPECT_EQ(MessageOf([&] { rethrown([] { CAFFE_THROW("bad"); }); }), "operator 2: bad");
  EXPECT_EQ(MessageOf([&] { rethrown([] { throw std::runtime_error("plain"); }); }),
            "operator 2: plain");
  EXPECT_EQ(MessageOf([&] { rethrown([] { throw 7; }); }), "operator 2: unknown exception");
  struct Own : EnforceNotMet {
    using EnforceNotMet::EnforceNotMet;
  };
  EXPECT_THROW(rethrown([] { throw Own("a.cc", 1, "", "own"); }), Own);
  EXPECT_THROW(rethrown([] { throw std::bad_alloc(); }), OutOfMemory);
}

TEST(EnforceTest, NamesTheFileWithoutItsFolders) {
  const struct {
    const char* file;
    const char* condition;
    const char* what;
  } rows[] = {
      {"a/b/c.cc", "x > 1", "[enforce fail at c.cc:7] x > 1. text"},
      {"c.cc", "", "[enforce fail at c.cc:7] text"},
      {"/c.cc", "", "[enforce fail at c.cc:7] text"},
  };
  for (const auto& row : rows) {
    const EnforceNotMet error(row.file, 7, row.condition, "text");
    EXPECT_STREQ(error.what(), row.what);
    EXPECT_EQ(error.msg(), row.what);
    EXPECT_EQ(error.msg_stack(), std::vector<std::string>{row.what});
    EXPECT_EQ(error.message(), "text");
    EXPECT_EQ(error.caller(), nullptr);
  }
  EnforceNotMet without_text("c.cc", 7, "x", "");
  EXPECT_EQ(without_text.message(), "[enforce fail at c.cc:7] x. ");
  without_text.AppendMessage("operator 3 (Conv)");
  EXPECT_EQ(without_text.message(), "operator 3 (Conv): [enforce fail at c.cc:7] x. ");
  without_text.AppendMessage("net \"n\"");
  EXPECT_EQ(without_text.message(), "net \"n\": operator 3 (Conv): [enforce fail at c.cc:7] x. ");
}

TEST(MakeStringTest, WritesEveryKindOfPartToAStreamToo) {
  EXPECT_EQ(MakeString("t", std::string("s"), 'c', -3, 7u, 2.5, std::vector<int>{1, 2}, true, " ",
                       Point{1, 2}),
            "tsc-372.5[1, 2]1 <1;2>");
  EXPECT_EQ(MakeString(std::showpos, 3, ' ', -3, ' ', int64_t{5}, ' ', 1.5), "+3 -3 +5 +1.5");
}

// A text states a wish with ", want ", and with no other word.
TEST(EnforceTest, ComparisonsSayWhatTheyWantUnlessTheTextDoes) {
  const auto message = [](const char* text) -> std::string {
    try {
      CAFFE_ENFORCE_EQ(1, 2, text);
    } catch (const EnforceNotMet& error) {
      return error.message();
    }
    return "";
  };
  EXPECT_EQ(message("number of wanted blobs"), "number of wanted blobs: got 1, want 2");
  EXPECT_EQ(message("want of blobs"), "want of blobs: got 1, want 2");
  EXPECT_EQ(message("blobs, wanting"), "blobs, wanting: got 1, want 2");
  EXPECT_EQ(message("blobs, want a pair"), "blobs, want a pair (got 1, want 2)");
  EXPECT_EQ(message(""), "got 1, want 2");
}

}  // namespace
}  // namespace caffe2rt::enforce_test
