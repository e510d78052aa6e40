// The library and the programs read and write the same text in a process whose locale groups digits
// and uses a decimal comma.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "binaries/command_line.h"
#include "binaries/json_output.h"
#include "caffe2_core/base/flags.h"
#include "caffe2_core/base/logging.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/graph/net_drawing.h"
#include "caffe2_core/graph/net_summary.h"
#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/blob_serialization.h"
#include "caffe2_core/io/db.h"
#include "caffe2_core/io/npy.h"
#include "caffe2_core/io/proto_file.h"
#include "contexts/pool/pool_statistics.h"
#include "operators/conv/conv_tuning.h"
#include "tests/support/foreign_locale.h"
#include "tests/support/json.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::locale_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class LocaleTest : public ::testing::Test {
 protected:
  LocaleTest() {
    RecordProperty("c_locale", foreign_.has_c_locale() ? "with decimal comma" : "not installed");
  }
  const ForeignLocale foreign_;
};

TEST_F(LocaleTest, IsForeign) {
  std::ostringstream stream;
  stream << 1234.5;
  EXPECT_EQ(stream.str(), "1.234,5");
}

TEST_F(LocaleTest, ArraysHavePlainHeaders) {
  const std::string bytes =
      NpyBytes(Tensor(ParseNpy(NpyBytes([] {
                                 Tensor tensor(std::vector<int64_t>{1234, 1001}, CPU);
                                 tensor.mutable_data<uint8_t>();
                                 return tensor;
                               }()),
                               "x")));
  EXPECT_THAT(bytes.substr(0, 128), HasSubstr("'shape': (1234, 1001), }"));
}

TEST_F(LocaleTest, RecordsHavePlainKeys) {
  Workspace ws;
  FeedRange<float>(&ws, "x", {1002});
  std::vector<std::string> keys;
  SerializeBlob(
      *ws.GetBlob("x"), "x",
      [&](const std::string& key, const std::string&) { keys.push_back(key); }, 1);
  ASSERT_EQ(keys.size(), 1002u);
  EXPECT_EQ(keys.back(), "x#%1001");
  const TempDir dir;
  RunOp(
      &ws,
      R"(type: "Save" input: "x" arg { name: "absolute_path" i: 1 } arg { name: "chunk_size" i: 1 }
      arg { name: "db" s: ")" +
          dir.path("x.minidb") + R"(" } arg { name: "db_type" s: "minidb" })");
  const auto saved = db::OpenDB("minidb", dir.path("x.minidb"), db::READ);
  const auto cursor = saved->NewCursor();
  std::string last;
  for (; cursor->Valid(); cursor->Next()) last = cursor->key();
  EXPECT_EQ(last, "x#%1001");
}

TEST_F(LocaleTest, DrawingsHavePlainNumbers) {
  NetDef net;
  for (int i = 0; i < 1002; ++i) {
    OperatorDef* op = net.add_op();
    op->set_type("Relu");
    op->add_input("x");
    op->add_output(MakeString("y", i));
  }
  const NetSummary summary = SummarizeNet(
      {}, net, {{"x", CreateTensorShape(std::vector<int64_t>{1234}, TensorProto::FLOAT)}}, {});
  const std::string dot = NetAsDot(net, summary);
  EXPECT_THAT(dot, HasSubstr("  n1001 [label=\"Relu"));
  EXPECT_THAT(dot, HasSubstr("1234"));
  const std::string svg = NetAsSvg(net, summary, {.max_svg_ops = 2000});
  EXPECT_THAT(svg, HasSubstr("1002 operators"));
  // Many boxes side by side: the width has more than three digits, and none is grouped.
  static const std::regex width("<svg [^>]* width=\"[0-9]{5,}(\\.[0-9])?\" ");
  EXPECT_TRUE(std::regex_search(svg.substr(0, 300), width)) << svg.substr(0, 300);
}

TEST_F(LocaleTest, PrintedTensorsAreAsInTheClassicLocale) {
  const TempDir dir;
  Workspace ws(dir.path());
  Feed<float>(&ws, "x", {1, 2}, {1234.5f, 1e6f});
  Feed<bool>(&ws, "b", {1}, {true});
  testing::internal::CaptureStderr();
  RunOp(&ws, R"(type: "Print" input: "x")");
  RunOp(&ws, R"(type: "Print" input: "b")");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "Tensor x of type float. Dims: (1,2,): 1234.5,1e+06\n"
            "Tensor b of type bool. Dims: (1,): 1\n");
  FeedRange<int64_t>(&ws, "n", {1, 1}, 1234567);
  RunOp(&ws, R"(type: "Print" input: "n" arg { name: "to_file" i: 1 })");
  EXPECT_EQ(ReadWholeFile(dir.path("n.log")), "Tensor n of type long int. Dims: (1,1,): 1234567\n");
}

TEST_F(LocaleTest, NumbersBecomePlainStrings) {
  Workspace ws;
  Feed<double>(&ws, "x", {2}, {1234.5, -0.25});
  RunOp(&ws, R"(type: "Cast" input: "x" output: "y" arg { name: "to" s: "string" })");
  ExpectTensor<std::string>(ws, "y", {2}, {"1234.500000", "-0.250000"});
  EXPECT_EQ(FixedText(1234567.25, 1), "1234567.2");
  EXPECT_EQ(ShortText(1234.5), "1234.5");
  EXPECT_EQ(MakeString(1234.5, " ", 1234567, " ", true), "1234.5 1234567 1");
}

TEST_F(LocaleTest, JsonHasPlainNumbers) {
  testing::internal::CaptureStdout();
  PrintJson({1234567, 1234.5, JsonNumber(0.5f)});
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "[1234567, 1234.5, 0.5]\n");
  PoolSnapshot snapshot;
  snapshot.statistics.in_use_bytes = 1234567;
  EXPECT_EQ(JsonAt(SnapshotJson(snapshot), "/statistics/in_use_bytes"), "1234567");
}

TEST_F(LocaleTest, OptionsAndFlagsAreRead) {
  const std::vector<Option> options = {{"mean", "M", "", ""}, {"limit", "BYTES", "1234567", ""}};
  const CommandLine line = ParseCommandLine(options, {"--mean", "1234.5,0.25", "--limit=2048KiB"});
  EXPECT_THAT(line.Floats("mean"), ElementsAre(1234.5f, 0.25f));
  EXPECT_EQ(line.Bytes("limit"), 2 << 20);
  EXPECT_EQ(ParseCommandLine(options, {}).Integer("limit", 0, 2000000), 1234567);
  EXPECT_EQ(ParseFlagDouble("1234.5"), 1234.5);
  static double value = 1234.5;
  static const bool is_registered =
      RegisterFlag("locale_test_value", &value, "for the test", __FILE__);
  EXPECT_TRUE(is_registered);
  SetFlag("locale_test_value", "0.25");
  EXPECT_EQ(value, 0.25);
  for (const FlagInfo& flag : RegisteredFlags()) {
    if (flag.name == "locale_test_value") {
      EXPECT_EQ(flag.default_value, "1234.5");
    }
  }
}

TEST_F(LocaleTest, ProtosAreWrittenAndRead) {
  NetDef net;
  Argument* arg = net.add_arg();
  arg->set_name("a");
  arg->set_f(1234.5f);
  arg->set_i(1234567);
  const std::string text = ProtoToText(net);
  EXPECT_THAT(text, HasSubstr("f: 1234.5\n"));
  EXPECT_THAT(text, HasSubstr("i: 1234567\n"));
  EXPECT_EQ(ParseNet(text).arg(0).f(), 1234.5f);
}

TEST_F(LocaleTest, TablesOfConvolutionsAreWrittenAndRead) {
  const std::string line =
      "avx2\tNCHW\t1x1024x7x7\t2048\t3x3\t1x1\t1x1\t1x1\t1x1\t1\tim2col\t1234.5\n";
  const ConvTuning table(line);
  const std::vector<ConvTuningRow>& rows = table.rows();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].microseconds, 1234.5);
  EXPECT_EQ(ConvTuningLine(rows[0]), line);
}

TEST_F(LocaleTest, LogsAndErrorsHavePlainNumbers) {
  testing::internal::CaptureStderr();
  LOG(ERROR) << 1234567 << " " << 1234.5;
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("] 1234567 1234.5\n"));
  ExpectThrows([] { CAFFE_ENFORCE_EQ(1234567, 7654321, 1234.5); },
               "1234.5: got 1234567, want 7654321");
}

}  // namespace
}  // namespace caffe2rt::test::locale_test
