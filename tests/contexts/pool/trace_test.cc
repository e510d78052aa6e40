#include "contexts/pool/trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "caffe2_core/base/enforce.h"
#include "contexts/pool/trace_maker.h"

namespace caffe2rt::trace_test {
namespace {

using testing::HasSubstr;
using Kind = TraceEntry::Kind;

std::string ErrorOf(const std::string& text) {
  try {
    ParseTrace(text);
  } catch (const EnforceNotMet& error) {
    return error.message();
  }
  return "";
}

TEST(TraceTest, ReadsEveryKindOfLine) {
  const Trace trace = ParseTrace(
      "# a comment\n"
      "caffe2rt-trace 1\n"
      "name my.trace-1\n"
      "fixed_shapes\n"
      "\n"
      "a 7 4096 0\n"
      "u 7 1\n"
      "f 7 -1\n"
      "w 1");
  EXPECT_EQ(trace.name, "my.trace-1");
  EXPECT_TRUE(trace.fixed_shapes);
  const std::vector<TraceEntry> want = {{Kind::kAllocate, 0, 7, 4096},
                                        {Kind::kUse, 1, 7, 0},
                                        {Kind::kFree, -1, 7, 0},
                                        {Kind::kWait, 1, 0, 0}};
  EXPECT_EQ(trace.entries, want);
  EXPECT_EQ(trace.IdCount(), 8u);
  EXPECT_EQ(trace.StreamCount(), 2u);
}

TEST(TraceTest, ComesBackFromItsText) {
  for (const Trace& trace : StandardTraces()) {
    const Trace read = ParseTrace(TraceText(trace));
    EXPECT_EQ(read.name, trace.name);
    EXPECT_EQ(read.fixed_shapes, trace.fixed_shapes);
    EXPECT_EQ(read.entries, trace.entries);
  }
}

TEST(TraceTest, NamesTheLineThatIsWrong) {
  const std::string first = "caffe2rt-trace 1\n";
  EXPECT_THAT(ErrorOf(""), HasSubstr("trace is empty"));
  EXPECT_THAT(ErrorOf("a 1 2 3\n"), HasSubstr("want \"caffe2rt-trace 1\" first"));
  EXPECT_THAT(ErrorOf(first + "x 1\n"), HasSubstr("line 2 (\"x 1\"): want name, fixed_shapes"));
  EXPECT_THAT(ErrorOf(first + "a 1 2\n"), HasSubstr("stream is \"\", want 0 to 65535"));
  EXPECT_THAT(ErrorOf(first + "a 1 -2 0\n"), HasSubstr("size is \"-2\""));
  EXPECT_THAT(ErrorOf(first + "a 1 99999999999999999999 0\n"), HasSubstr("size is"));
  EXPECT_THAT(ErrorOf(first + "a 1048576 2 0\n"), HasSubstr("id is \"1048576\""));
  EXPECT_THAT(ErrorOf(first + "a 1 2 0\na 1 2 0\n"), HasSubstr("line 3"));
  EXPECT_THAT(ErrorOf(first + "f 1 0\n"), HasSubstr("id 1 is not in use"));
  EXPECT_THAT(ErrorOf(first + "a 1 2 0\nf 1 0\nu 1 0\n"), HasSubstr("id 1 is not in use"));
  EXPECT_THAT(ErrorOf(first + "a 1 2 -1\n"), HasSubstr("stream is \"-1\", want 0"));
  EXPECT_THAT(ErrorOf(first + "w 0 1\n"), HasSubstr("too many words"));
  EXPECT_THAT(ErrorOf(first + "fixed_shapes 1\n"),
              HasSubstr("line 2 (\"fixed_shapes 1\"): want name, fixed_shapes, a, u, f or w"));
  EXPECT_THAT(ErrorOf(first + "name a\"b\n"), HasSubstr("only letters, digits"));
}

TEST(TraceTest, WritesOnlyWhatATraceHas) {
  EXPECT_EQ(TraceText({}), "caffe2rt-trace 1\n");
  Trace trace;
  trace.fixed_shapes = true;
  trace.entries = {{Kind::kAllocate, 2, 1, 64}, {Kind::kWait, 3, 0, 0}};
  EXPECT_EQ(TraceText(trace), "caffe2rt-trace 1\nfixed_shapes\na 1 64 2\nw 3\n");
}

}  // namespace
}  // namespace caffe2rt::trace_test
