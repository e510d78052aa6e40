#include "tests/support/json.h"

#include <gtest/gtest.h>

#include "tests/support/operator_test.h"

namespace caffe2rt::test::json_test {
namespace {

constexpr char kText[] = R"({"b": [1, {"a/c": 0.5}, "x"], "a": {}})";

TEST(JsonTest, ReturnsValuesInTheOrderOfTheText) {
  EXPECT_EQ(JsonAt(kText, ""), R"({"b":[1,{"a/c":0.5},"x"],"a":{}})");
  EXPECT_EQ(JsonAt(kText, "/b/1/a~1c"), "0.5");
  EXPECT_EQ(JsonAt(kText, "/b/2"), R"("x")");
  EXPECT_EQ(JsonSize(kText, "/b"), 3u);
  EXPECT_EQ(JsonSize(kText, "/a"), 0u);
}

TEST(JsonTest, NamesTheValueThatIsMissing) {
  ExpectThrows([] { JsonAt(kText, "/c"); }, "no value \"/c\" in {");
  ExpectThrows([] { JsonAt(kText, "/b/3"); }, "no value \"/b/3\"");
}

TEST(JsonTest, RejectsTextThatIsNotOneDocument) {
  for (const char* text : {"", "{", "{} {}", "{\"a\": NaN}", "{'a': 1}", "[1,]"}) {
    ExpectThrows([&] { JsonAt(text, ""); }, "parse error");
  }
}

}  // namespace
}  // namespace caffe2rt::test::json_test
