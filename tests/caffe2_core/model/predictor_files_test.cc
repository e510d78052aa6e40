// The files that the nets of a predictor may open.
#include <gtest/gtest.h>

#include "caffe2_core/io/blob_serialization.h"
#include "caffe2_core/io/db.h"
#include "caffe2_core/model/predictor.h"
#include "tests/caffe2_core/model/predictor_nets.h"
#include "tests/support/operator_test.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::predictor_files_test {
namespace {

using namespace test;  // used throughout this file

// A net that checks whether a database exists.
NetDef NetThatOpensAFile() {
  return ParseNet(R"(op { type: "DBExists" output: "exists" arg { name: "db_type" s: "minidb" }
      arg { name: "db_name" s: "nowhere" } } external_output: "exists")");
}

MetaNetDef MetaNetThatOpensAFile() {
  MetaNetDef meta;
  NetsMap* entry = meta.add_nets();
  entry->set_key("PREDICT_NET_TYPE");
  *entry->mutable_value() = NetThatOpensAFile();
  return meta;
}

bool RunsAndFindsNothing(Predictor predictor) {
  std::vector<Tensor> out;
  return predictor(Predictor::TensorList(), &out) && !out[0].data<bool>()[0];
}

TEST(PredictorFilesTest, OpensNoFilesUnlessAsked) {
  const std::string refusal =
      "nets may not access any file; PredictorOptions::file_access allows it";
  const auto run = [](const Predictor& predictor) { RunsAndFindsNothing(predictor); };
  const NetDef net = NetThatOpensAFile();
  ExpectThrows([&] { run(Predictor(NetDef(), net)); }, refusal);
  ExpectThrows([&] { run(Predictor(MetaNetThatOpensAFile())); }, refusal);
  // An init net is not allowed to open files either.
  ExpectThrows([&] { Predictor(net, ParseNet(kPredict)); }, refusal);
  PredictorOptions options;
  options.file_access = FileAccess::Free();
  EXPECT_TRUE(RunsAndFindsNothing(Predictor(NetDef(), net, nullptr, options)));
  EXPECT_TRUE(RunsAndFindsNothing(Predictor(MetaNetThatOpensAFile(), nullptr, options)));
}

TEST(PredictorFilesTest, FollowsThePolicyOfTheParentUnlessItHasItsOwn) {
  const NetDef net = NetThatOpensAFile();
  Workspace parent;
  EXPECT_TRUE(RunsAndFindsNothing(Predictor(NetDef(), net, &parent)));
  PredictorOptions off;
  off.file_access = FileAccess::Off("an option");
  ExpectThrows([&] { RunsAndFindsNothing(Predictor(NetDef(), net, &parent, off)); }, "an option");
  parent.SetFileAccess(FileAccess::Off("the parent"));
  ExpectThrows([&] { RunsAndFindsNothing(Predictor(NetDef(), net, &parent)); }, "the parent");
  PredictorOptions free;
  free.file_access = FileAccess::Free();
  EXPECT_TRUE(RunsAndFindsNothing(Predictor(NetDef(), net, &parent, free)));
  PredictorConfig config;
  config.ws = std::make_shared<Workspace>(&parent);
  config.predict_net = std::make_shared<NetDef>(net);
  ExpectThrows([&] { RunsAndFindsNothing(Predictor(config)); }, "the parent");
}

TEST(PredictorFilesTest, TheOlderFormFollowsThePolicyToo) {
  NetDef net = NetThatOpensAFile();
  Predictor predictor(NetDef(), net);
  Predictor::TensorVector out;
  ExpectThrows([&] { predictor.run({}, &out); }, "nets may not access any file");
}

TEST(PredictorFilesTest, LoadedFromADatabaseOpensOnlyTheDatabase) {
  const test::TempDir dir;
  MetaNetDef meta = MetaNetThatOpensAFile();
  Blob blob;
  *blob.GetMutable<std::string>() = meta.SerializeAsString();
  {
    const auto database = db::CreateDB("minidb", dir.path("p"), db::NEW);
    const auto transaction = database->NewTransaction();
    transaction->Put("!!META_NET_DEF", SerializeBlob(blob, "!!META_NET_DEF"));
  }
  const Predictor loaded = LoadPredictor(dir.path("p"), "minidb");
  ExpectThrows([&] { RunsAndFindsNothing(loaded); }, "PredictorOptions::file_access allows it");
  PredictorOptions options;
  options.file_access = FileAccess::Below({dir.path()});
  ExpectThrows([&] { RunsAndFindsNothing(LoadPredictor(dir.path("p"), "minidb", "", options)); },
               "it is not below");
  options.file_access = FileAccess::Below({"."});
  EXPECT_TRUE(RunsAndFindsNothing(LoadPredictor(dir.path("p"), "minidb", "", options)));
}

}  // namespace
}  // namespace caffe2rt::predictor_files_test
