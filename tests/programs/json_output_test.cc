#include "binaries/json_output.h"

#include <gtest/gtest.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <iostream>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/support/allocation_counter.h"

namespace caffe2rt::json_output_test {
namespace {

// What PrintJson prints, without the line feed at its end.
std::string Printed(const Json& json) {
  std::ostringstream out;
  std::streambuf* const before = std::cout.rdbuf(out.rdbuf());
  PrintJson(json);
  std::cout.rdbuf(before);
  std::string text = out.str();
  EXPECT_TRUE(text.ends_with('\n'));
  if (!text.empty()) text.pop_back();
  return text;
}

TEST(JsonOutputTest, PrintsOneLineInTheOrderOfTheProgram) {
  Json json;
  json["b"] = 1;
  json["a"] = {true, "x", Json::object(), nullptr};
  json["c"] = Json::array();
  EXPECT_EQ(Printed(json), R"({"b": 1, "a": [true, "x", {}, null], "c": []})");
}

TEST(JsonOutputTest, EscapesTextAndReplacesBrokenBytes) {
  const struct {
    std::string text, want;
  } cases[] = {
      {"plain", R"("plain")"},
      {"\"\\\n\x01", R"("\"\\\n\u0001")"},
      {"\xc3\xa4 \xf0\x9f\x98\x80", R"("\u00e4 \ud83d\ude00")"},
      {"\xff\xc3", R"("\ufffd\ufffd")"},
      {"a\xe2\x82z", R"("a\ufffdz")"},
      {std::string("\0", 1), R"("\u0000")"},
      // What terminals act on: escape, DEL and U+009B.
      {"\x1b[31m\x7f \xc2\x9b", R"("\u001b[31m\u007f \u009b")"},
      {"a\x7f", R"("a\u007f")"},
      {"\x1f", R"("\u001f")"},
      {" ~", R"(" ~")"},
      {"\\", R"("\\")"},
      {"\"", R"("\"")"},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(Printed(c.text), c.want);
    EXPECT_EQ(Printed({{c.text, 1}}), "{" + c.want + ": 1}");
  }
}

TEST(JsonOutputTest, PrintsNumbersThatReadBackTheSame) {
  const struct {
    Json json;
    std::string want;
  } cases[] = {
      {JsonNumber(0.1f), "0.1"},
      {JsonNumber(16777216.f), "16777216"},
      {JsonNumber(3.4028235e38f), "3.4028235e+38"},
      {JsonNumber(1e-45f), "1e-45"},
      {JsonNumber(-0.f), "-0"},
      {0.1, "0.1"},
      {1e300, "1e+300"},
      {0.1 + 0.2, "0.30000000000000004"},
      {INT64_MIN, "-9223372036854775808"},
      {UINT64_MAX, "18446744073709551615"},
  };
  for (const auto& c : cases) EXPECT_EQ(Printed(c.json), c.want);
}

TEST(JsonOutputTest, PrintsNumbersWithoutJsonFormAsStrings) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const Json json = {JsonNumber(NAN), JsonNumber(kInfinity), JsonNumber(-kInfinity),
                     std::numeric_limits<double>::quiet_NaN()};
  EXPECT_EQ(Printed(json), R"(["NaN", "Infinity", "-Infinity", "NaN"])");
}

TEST(JsonOutputTest, PrintsEveryFloatAsShortAsPossible) {
  uint32_t bits = 1;
  for (int i = 0; i < 20000; ++i) {
    bits = bits * 1664525 + 1013904223;
    const auto value = std::bit_cast<float>(bits);
    if (!std::isfinite(value)) continue;
    char digits[32];
    const std::string shortest(digits, std::to_chars(digits, digits + sizeof(digits), value).ptr);
    ASSERT_EQ(Printed(JsonNumber(value)), shortest);
  }
}

TEST(JsonOutputTest, PrintsLongDocumentsWhole) {
  Json json = Json::array();
  std::string want = "[";
  for (int i = 0; i < 100000; ++i) {
    json.push_back(i);
    want += (i > 0 ? ", " : "") + std::to_string(i);
  }
  EXPECT_EQ(Printed(json), want + "]");
}

TEST(JsonOutputTest, FreesADocumentWithoutMemory) {
  if (!test::AllocationCounter::kCounts) GTEST_SKIP() << "sanitizers replace the same functions";
  JsonDocument document = NewJson();
  for (int i = 0; i < 10000; ++i) {
    (*document)["list"].emplace_back() = {{"name", std::string(100, 'x')}, {"dims", {1, 2, 3}}};
  }
  const test::AllocationCounter counter;
  document.reset();
  EXPECT_EQ(counter.Counts().allocations, 0);
}

}  // namespace
}  // namespace caffe2rt::json_output_test
