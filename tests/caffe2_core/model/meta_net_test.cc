#include "caffe2_core/model/meta_net.h"

#include <absl/strings/str_replace.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "caffe2_core/io/blob_serialization.h"
#include "caffe2_core/io/db.h"
#include "caffe2_core/model/predictor.h"
#include "caffe2_core/runtime/workspace.h"
#include "tests/support/operator_test.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::meta_net_test {
namespace {

using test::ExpectThrows;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Returns a MetaNetDef whose nets are named by their keys, in this order.
MetaNetDef Meta(const std::vector<std::string>& keys) {
  MetaNetDef meta;
  for (const std::string& key : keys) {
    meta.add_nets()->set_key(key);
    meta.mutable_nets(meta.nets_size() - 1)->mutable_value()->set_name("net of " + key);
  }
  return meta;
}

TEST(MetaNetTest, ListsTheNetsInTheOrderToRunThem) {
  MetaNetDef meta =
      Meta({"PREDICT_INIT_NET_TYPE", "ANOTHER", "PREDICT_NET_TYPE", "GLOBAL_INIT_NET_TYPE"});
  meta.add_blobs()->set_key("OUTPUTS_BLOB_TYPE");
  meta.mutable_blobs(0)->add_value("y");
  const PredictorNets nets = TakeNets(std::move(meta));
  ASSERT_EQ(nets.init_nets.size(), 2u);
  EXPECT_EQ(nets.init_nets[0].name(), "net of GLOBAL_INIT_NET_TYPE");
  EXPECT_EQ(nets.init_nets[1].name(), "net of PREDICT_INIT_NET_TYPE");
  EXPECT_EQ(nets.predict_net.name(), "net of PREDICT_NET_TYPE");
  EXPECT_THAT(nets.inputs, IsEmpty());
  EXPECT_THAT(nets.outputs, ElementsAre("y"));
}

TEST(MetaNetTest, ListsTheNetsIfThePredictNetIsMissing) {
  ExpectThrows(
      [] {
        TakeNets(Meta({"A", "B"}));
      },
      "the MetaNetDef has no net \"PREDICT_NET_TYPE\"; it has: A, B");
}

// Exporters put the predictor's name into the keys of the record and of the nets.
TEST(MetaNetTest, ReadsTheOnlyNamedPredictorOfADatabase) {
  const test::TempDir dir;
  const auto write = [&](const std::string& path, const std::vector<std::string>& names) {
    const auto database = db::CreateDB("minidb", path, db::NEW);
    const auto transaction = database->NewTransaction();
    for (const std::string& name : names) {
      Blob blob;
      *blob.GetMutable<std::string>() = Meta({"PREDICT_NET_TYPE_" + name}).SerializeAsString();
      transaction->Put("!!META_NET_DEF_" + name, SerializeBlob(blob, "!!META_NET_DEF"));
    }
  };
  write(dir.path("one"), {"a"});
  EXPECT_EQ(TakeNets(LoadMetaNetDef(dir.path("one"), "minidb")).predict_net.name(),
            "net of PREDICT_NET_TYPE_a");
  write(dir.path("two"), {"a", "b"});
  ExpectThrows([&] { LoadMetaNetDef(dir.path("two"), "minidb"); },
               "it has: !!META_NET_DEF_a, !!META_NET_DEF_b");
  EXPECT_EQ(TakeNets(LoadMetaNetDef(dir.path("two"), "minidb", "b")).predict_net.name(),
            "net of PREDICT_NET_TYPE_b");
}

// The name of a predictor is part of the key of its record, of the keys inside, or of both. Plain keys come first,
// unless a name is wanted; a predictor of another name is not taken.
TEST(MetaNetTest, FindsTheNetsOfAName) {
  const test::TempDir dir;
  const std::string net = "PREDICT_NET_TYPE", record = "!!META_NET_DEF";
  int files = 0;
  const auto name_of = [&](const std::string& suffix, const std::vector<std::string>& keys,
                           const std::string& wanted) {
    const std::string path = dir.path(MakeString("r", ++files));
    {
      Blob blob;
      *blob.GetMutable<std::string>() = Meta(keys).SerializeAsString();
      const auto database = db::CreateDB("minidb", path, db::NEW);
      database->NewTransaction()->Put(record + suffix, SerializeBlob(blob, record));
    }
    try {
      return TakeNets(LoadMetaNetDef(path, "minidb", wanted)).predict_net.name();
    } catch (const EnforceNotMet& error) {
      return absl::StrReplaceAll(error.message(), {{path, "FILE"}});
    }
  };
  const std::string a = net + "_a", b = net + "_b", of = "net of ";
  EXPECT_EQ(name_of("", {net}, ""), of + net);
  EXPECT_EQ(name_of("", {a}, ""), of + a);
  EXPECT_EQ(name_of("", {a, net, b}, ""), of + net);
  EXPECT_EQ(name_of("", {a, b}, "b"), of + b);
  EXPECT_EQ(name_of("", {a}, "c"), "database \"FILE\" holds no predictor \"!!META_NET_DEF_c\"");
  EXPECT_EQ(name_of("", {a, b}, ""),
            "the MetaNetDef has no net \"PREDICT_NET_TYPE\"; it has: " + a + ", " + b);
  EXPECT_EQ(name_of("_a", {net}, "a"), of + net);
  EXPECT_EQ(name_of("_a", {a, net}, "a"), of + a);
  EXPECT_EQ(name_of("", {net, a}, "a"), of + a);
  EXPECT_EQ(name_of("_a", {net, b, a}, "a"), of + a);
  EXPECT_EQ(name_of("", {net, a}, ""), of + net);
  EXPECT_EQ(name_of("_a", {net}, ""), of + net);
  EXPECT_EQ(name_of("_a", {a}, "c"),
            "database \"FILE\" holds no predictor \"!!META_NET_DEF_c\"; it has: !!META_NET_DEF_a");
}

// What has the name in its key replaces what has the plain key; other plain keys stay, and so do those of other names.
TEST(MetaNetTest, ANameReplacesThePlainKeysThatItHas) {
  MetaNetDef meta = Meta({"PREDICT_INIT_NET_TYPE", "PREDICT_NET_TYPE_a", "GLOBAL_INIT_NET_TYPE",
                          "PREDICT_INIT_NET_TYPE_b", "PREDICT_NET_TYPE", "PREDICT_INIT_NET_TYPE_a",
                          "PREDICT_NET_TYPE_b", "OTHER"});
  meta.clear_blobs();
  for (const char* const key :
       {"INPUTS_BLOB_TYPE", "INPUTS_BLOB_TYPE_a", "OUTPUTS_BLOB_TYPE", "OUTPUTS_BLOB_TYPE_b"}) {
    BlobsMap* const entry = meta.add_blobs();
    entry->set_key(key);
    entry->add_value(MakeString("blob of ", key));
  }
  const test::TempDir dir;
  {
    Blob blob;
    *blob.GetMutable<std::string>() = meta.SerializeAsString();
    const auto database = db::CreateDB("minidb", dir.path("p"), db::NEW);
    database->NewTransaction()->Put("!!META_NET_DEF", SerializeBlob(blob, "!!META_NET_DEF"));
  }
  const auto text = [&](const std::string& wanted) {
    const MetaNetDef found = LoadMetaNetDef(dir.path("p"), "minidb", wanted);
    std::string keys;
    for (const NetsMap& entry : found.nets())
      keys += entry.key() + "=" + entry.value().name().substr(7) + " ";
    for (const BlobsMap& entry : found.blobs())
      keys += entry.key() + "=" + entry.value(0).substr(8) + " ";
    return keys;
  };
  EXPECT_EQ(text("a"),
            "PREDICT_NET_TYPE=PREDICT_NET_TYPE_a GLOBAL_INIT_NET_TYPE=GLOBAL_INIT_NET_TYPE "
            "PREDICT_INIT_NET_TYPE_b=PREDICT_INIT_NET_TYPE_b "
            "PREDICT_INIT_NET_TYPE=PREDICT_INIT_NET_TYPE_a PREDICT_NET_TYPE_b=PREDICT_NET_TYPE_b "
            "OTHER=OTHER INPUTS_BLOB_TYPE=INPUTS_BLOB_TYPE_a OUTPUTS_BLOB_TYPE=OUTPUTS_BLOB_TYPE "
            "OUTPUTS_BLOB_TYPE_b=OUTPUTS_BLOB_TYPE_b ");
  const PredictorNets nets = TakeNets(LoadMetaNetDef(dir.path("p"), "minidb", "a"));
  EXPECT_EQ(nets.predict_net.name(), "net of PREDICT_NET_TYPE_a");
  ASSERT_EQ(nets.init_nets.size(), 2u);
  EXPECT_EQ(nets.init_nets[0].name(), "net of GLOBAL_INIT_NET_TYPE");
  EXPECT_EQ(nets.init_nets[1].name(), "net of PREDICT_INIT_NET_TYPE_a");
  EXPECT_THAT(nets.inputs, ElementsAre("blob of INPUTS_BLOB_TYPE_a"));
  EXPECT_THAT(nets.outputs, ElementsAre("blob of OUTPUTS_BLOB_TYPE"));
  const PredictorNets plain = TakeNets(LoadMetaNetDef(dir.path("p"), "minidb"));
  EXPECT_EQ(plain.predict_net.name(), "net of PREDICT_NET_TYPE");
  ASSERT_EQ(plain.init_nets.size(), 2u);
  EXPECT_EQ(plain.init_nets[1].name(), "net of PREDICT_INIT_NET_TYPE");
  EXPECT_THAT(plain.inputs, ElementsAre("blob of INPUTS_BLOB_TYPE"));
}

TEST(MetaNetTest, OpensTheReaderOfTheParameters) {
  const test::TempDir dir;
  {
    const auto database = db::CreateDB("minidb", dir.path("p"), db::NEW);
    database->NewTransaction()->Put("key", "value");
  }
  Workspace ws;
  OpenParameterReader(dir.path("p"), "minidb", &ws);
  std::string key, value;
  ws.GetBlob("!!PREDICTOR_DBREADER")->Get<db::DBReader>().Read(&key, &value);
  EXPECT_EQ(key, "key");
  ExpectThrows([&] { OpenParameterReader(dir.path("p"), "minidb", nullptr); }, "is null");
}

// A database with two predictors, whose nets read one weight: y = x w, and y = x w + w.
TEST(MetaNetTest, PredictorsAreLoadedByName) {
  const test::TempDir dir;
  const std::string path = dir.path("two");
  {
    const auto database = db::CreateDB("minidb", path, db::NEW);
    const auto transaction = database->NewTransaction();
    for (const std::string name : {"a", "b"}) {
      MetaNetDef meta = Meta({"PREDICT_NET_TYPE", "GLOBAL_INIT_NET_TYPE"});
      *meta.mutable_nets(0)->mutable_value() =
          test::ParseNet(MakeString("name: 'n' external_input: 'w' external_input: 'x' "
                                    "op { type: 'Mul' input: 'x' input: 'w' output: 'y' } ",
                                    name == "b" ? "op { type: 'Add' input: 'y' input: 'w' output: "
                                                  "'z' }"
                                                : ""));
      *meta.mutable_nets(1)->mutable_value() = test::ParseNet(
          "external_input: '!!PREDICTOR_DBREADER' op { type: 'Load' input: '!!PREDICTOR_DBREADER' "
          "output: 'w' }");
      for (const char* const key : {"INPUTS_BLOB_TYPE", "OUTPUTS_BLOB_TYPE"}) {
        meta.add_blobs()->set_key(key);
        meta.mutable_blobs(meta.blobs_size() - 1)
            ->add_value(*key == 'I'   ? "x"
                        : name == "b" ? "z"
                                      : "y");
      }
      Blob blob;
      *blob.GetMutable<std::string>() = meta.SerializeAsString();
      transaction->Put("!!META_NET_DEF_" + name, SerializeBlob(blob, "!!META_NET_DEF"));
    }
    Workspace ws;
    test::Feed<float>(&ws, "w", {1}, {10});
    transaction->Put("w", SerializeBlob(*ws.GetBlob("w"), "w"));
    transaction->Commit();
  }
  for (const std::string name : {"a", "b"}) {
    Predictor predictor = LoadPredictor(path, "minidb", name);
    EXPECT_THAT(predictor.input_names(), ElementsAre("x"));
    EXPECT_THAT(predictor.output_names(), ElementsAre(name == "b" ? "z" : "y"));
    Tensor x(std::vector<int64_t>{1}, CPU);
    x.mutable_data<float>()[0] = 3;
    std::vector<Tensor> out;
    ASSERT_TRUE(predictor(Predictor::TensorList{x}, &out));
    ASSERT_EQ(out.size(), 1u);
    EXPECT_EQ(out[0].data<float>()[0], name == "b" ? 40 : 30);
  }
  ExpectThrows([&] { LoadPredictor(path, "minidb", "c"); },
               "holds no predictor \"!!META_NET_DEF_c\"");
}

TEST(MetaNetTest, TakesEachNetOfAKeyAndTheFirstPredictNet) {
  MetaNetDef meta = Meta({"GLOBAL_INIT_NET_TYPE", "PREDICT_NET_TYPE", "PREDICT_INIT_NET_TYPE",
                          "GLOBAL_INIT_NET_TYPE", "PREDICT_NET_TYPE"});
  for (int i = 0; i < meta.nets_size(); ++i)
    meta.mutable_nets(i)->mutable_value()->set_name(std::to_string(i));
  const auto add = [&](const char* key, const std::vector<std::string>& values) {
    auto* const entry = meta.add_blobs();
    entry->set_key(key);
    for (const std::string& value : values) entry->add_value(value);
  };
  add("INPUTS_BLOB_TYPE", {"a", "b"});
  add("OUTPUTS_BLOB_TYPE", {"y", "z"});
  add("OTHER", {"o"});
  EXPECT_THAT(GetBlobs(meta, "OTHER"), ElementsAre("o"));
  EXPECT_THAT(GetBlobs(meta, "NONE"), IsEmpty());
  // The first of two entries counts, even one without blobs.
  add("EMPTY", {});
  add("EMPTY", {"p"});
  add("OTHER", {"q"});
  EXPECT_THAT(GetBlobs(meta, "EMPTY"), IsEmpty());
  EXPECT_THAT(GetBlobs(meta, "OTHER"), ElementsAre("o"));
  EXPECT_EQ(GetNet(meta, "PREDICT_NET_TYPE").name(), "1");
  const PredictorNets nets = TakeNets(std::move(meta));
  std::vector<std::string> names;
  for (const NetDef& net : nets.init_nets) names.push_back(net.name());
  EXPECT_THAT(names, ElementsAre("0", "3", "2"));
  EXPECT_EQ(nets.predict_net.name(), "1");
  EXPECT_THAT(nets.inputs, ElementsAre("a", "b"));
  EXPECT_THAT(nets.outputs, ElementsAre("y", "z"));
  EXPECT_FALSE(nets.image.known);
}

}  // namespace
}  // namespace caffe2rt::meta_net_test
