// Small nets written by the original's exporters: the binary and the text file of a net are
// equivalent, and the net computes what the original computed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "caffe2_core/io/file_kind.h"
#include "caffe2_core/io/npy.h"
#include "caffe2_core/io/proto_file.h"
#include "caffe2_core/model/predictor.h"
#include "tests/models/golden_case.h"
#include "tests/support/operator_test.h"
#include "tests/support/shared.h"

namespace caffe2rt::test::net_files_test {
namespace {

std::string File(const std::string& name) { return SharedPath("models/c2_files/" + name); }

template <class Message>
Message Load(const std::string& name) {
  Message message;
  LoadProto(File(name), &message);
  return message;
}

template <class Message>
void ExpectSameForms(const std::string& stem) {
  SCOPED_TRACE(stem);
  EXPECT_EQ(ProtoToText(Load<Message>(stem + ".pb")), ProtoToText(Load<Message>(stem + ".pbtxt")));
}

void ExpectRecorded(const Workspace& ws, const std::string& blob, const std::string& file) {
  SCOPED_TRACE(blob);
  ASSERT_TRUE(ws.HasBlob(blob));
  const Tensor& got = ws.GetBlob(blob)->Get<Tensor>();
  const Tensor want = ReadNpy(File("expected/" + file + ".npy"));
  EXPECT_EQ(RelativeError(got, want), 0) << got.DebugString() << ", want " << want.DebugString();
}

TEST(NetFilesTest, AreEqualInBothFormats) {
  SKIP_WITHOUT_SHARED("models/c2_files");
  for (const char* stem : {"fills", "lstm_tiny_net", "mobile_all_types_init", "mobile_init_net",
                           "mobile_predict_net", "text_styles"}) {
    ExpectSameForms<NetDef>(stem);
  }
  for (const char* stem : {"plan_control_flow", "plan_nested", "plan_queue"}) {
    ExpectSameForms<PlanDef>(stem);
  }
  ExpectSameForms<MetaNetDef>("meta_net_def");
}

TEST(NetFilesTest, AreDistinguishedByContent) {
  SKIP_WITHOUT_SHARED("models/c2_files");
  for (const auto& entry : std::filesystem::directory_iterator(File("."))) {
    const std::string name = entry.path().filename().string();
    if (!entry.is_regular_file() || name == "MANIFEST.tsv") continue;
    SCOPED_TRACE(name);
    const FileKind kind = DetectFileKind(entry.path().string()).kind;
    if (name.starts_with("plan_")) {
      EXPECT_EQ(kind, FileKind::kPlanDef);
    } else if (name.starts_with("meta_")) {
      EXPECT_EQ(kind, FileKind::kMetaNetDef);
    } else if (entry.path().extension() == ".minidb") {
      EXPECT_EQ(kind, FileKind::kMiniDB);
    } else if (entry.path().extension() == ".pb") {
      EXPECT_EQ(kind, FileKind::kNetDef);
    }
  }
}

TEST(NetFilesTest, LooserTextMeansWhatTheOriginalReads) {
  SKIP_WITHOUT_SHARED("models/c2_files");
  const NetDef net = Load<NetDef>("text_styles.pbtxt");
  EXPECT_EQ(net.op(0).device_option().node_name(), "host");
  EXPECT_EQ(net.op(0).arg(2).s(), "NCHW");
}

TEST(FillsTest, GiveTheRecordedValues) {
  SKIP_WITHOUT_SHARED("models/c2_files");
  Workspace ws;
  ASSERT_TRUE(ws.RunNetOnce(Load<NetDef>("fills.pb")));
  for (const char* name :
       {"cf_f32", "cf_f64", "cf_bool", "cf_i8", "cf_i16", "cf_i32", "cf_i64", "cf_u8", "cf_u16",
        "g_f32", "g_f64", "g_bool", "g_i16", "g_i32", "g_i64", "g_u8"}) {
    ExpectRecorded(ws, name, std::string("fills_") + name);
  }
  ExpectTensor<std::string>(ws, "cf_str", {2, 2}, {"hello", "hello", "hello", "hello"});
  EXPECT_EQ(Fetch<std::string>(ws, "g_str"), (std::vector<std::string>{"a", "b"}));
}

TEST(MobileExporterTest, FillsEveryElementType) {
  SKIP_WITHOUT_SHARED("models/c2_files");
  Workspace ws;
  ASSERT_TRUE(ws.RunNetOnce(Load<NetDef>("mobile_all_types_init.pb")));
  for (const char* name : {"f32", "i32", "i64", "u8", "i32_0d"}) {
    ExpectRecorded(ws, name, std::string("mobile_all_types_") + name);
  }
  EXPECT_EQ(Fetch<std::string>(ws, "str")[0], "plain");
}

void ExpectTinyOutput(Predictor predictor) {
  Predictor::TensorList outputs;
  ASSERT_TRUE(predictor({ReadNpy(File("expected/tiny_in__data.npy"))}, &outputs));
  ASSERT_EQ(outputs.size(), 1u);
  EXPECT_LE(RelativeError(outputs[0], ReadNpy(File("expected/tiny_out__prob.npy"))), 1e-6);
}

TEST(MobileExporterTest, PredictsTheRecordedOutput) {
  SKIP_WITHOUT_SHARED("models/c2_files");
  ExpectTinyOutput({Load<NetDef>("mobile_init_net.pb"), Load<NetDef>("mobile_predict_net.pb")});
}

TEST(PredictorExporterTest, PredictsTheRecordedOutput) {
  SKIP_WITHOUT_SHARED("models/c2_files");
  ExpectTinyOutput(LoadPredictor(File("predictor_export.minidb"), "minidb"));
}

TEST(PredictorExporterTest, FindsANamedPredictor) {
  SKIP_WITHOUT_SHARED("models/c2_files");
  const std::string path = File("predictor_export_named.minidb");
  ExpectTinyOutput(LoadPredictor(path, "minidb", "tiny_predictor"));
  ExpectTinyOutput(LoadPredictor(path, "minidb"));
  ExpectThrows([&] { LoadPredictor(path, "minidb", "other"); }, "other");
}

TEST(MetaNetDefTest, NamesItsNetsAndBlobs) {
  SKIP_WITHOUT_SHARED("models/c2_files");
  const auto meta = Load<MetaNetDef>("meta_net_def.pb");
  EXPECT_GT(GetNet(meta, "PREDICT_NET_TYPE").op_size(), 0);
  EXPECT_EQ(GetBlobs(meta, "INPUTS_BLOB_TYPE"), std::vector<std::string>{"data"});
  EXPECT_EQ(GetBlobs(meta, "OUTPUTS_BLOB_TYPE"), std::vector<std::string>{"prob"});
}

}  // namespace
}  // namespace caffe2rt::test::net_files_test
