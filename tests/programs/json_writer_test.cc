#include "binaries/json_writer.h"

#include <gtest/gtest.h>

#include <limits>

namespace caffe2rt::json_writer_test {
namespace {

TEST(JsonWriterTest, PutsCommasBetween) {
  JsonWriter json;
  json.BeginObject()
      .Key("a")
      .Value(1)
      .Key("b")
      .BeginArray()
      .Value(true)
      .Value("x")
      .BeginObject()
      .EndObject()
      .EndArray();
  json.Key("c").List(std::vector<int64_t>{}).EndObject();
  EXPECT_EQ(json.text(), R"({"a": 1, "b": [true, "x", {}], "c": []})");
}

TEST(JsonWriterTest, EscapesAndReplacesBrokenBytes) {
  JsonWriter json;
  json.Value(std::string("\"\\\n\x01 \xc3\xa4 \xff\xc3", 10));
  EXPECT_EQ(json.text(), "\"\\\"\\\\\\n\\u0001 \xc3\xa4 \\ufffd\\ufffd\"");
}

TEST(JsonWriterTest, EscapesWhatTerminalsActOn) {
  JsonWriter json;
  json.Value(
      std::string("\x1b[31m\x7f \xc2\x9b"
                  "31m \xc2\xa0 \x9b"));
  EXPECT_EQ(json.text(), "\"\\u001b[31m\\u007f \\u009b31m \xc2\xa0 \\ufffd\"");
}

TEST(JsonWriterTest, WritesNumbersThatReadBackTheSame) {
  JsonWriter json;
  json.BeginArray()
      .Value(0.1f)
      .Value(1e300)
      .Value(std::numeric_limits<double>::quiet_NaN())
      .Value(INT64_MIN)
      .EndArray();
  EXPECT_EQ(json.text(), "[0.1, 1e+300, null, -9223372036854775808]");
}

}  // namespace
}  // namespace caffe2rt::json_writer_test
