// The constructors of caffe2::Predictor, which decide whether its nets may open files.
#include "caffe2/predictor/predictor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/operator_test.h"

namespace caffe2rt::test::predictor_test {
namespace {

NetDef NetThatOpensAFile() {
  return ParseNet(R"(name: "n" external_output: "e"
      op { type: "DBExists" output: "e" arg { name: "db_type" s: "minidb" }
           arg { name: "db_name" s: "/absent/database" } })");
}

MetaNetDef MetaNet() {
  MetaNetDef meta;
  NetsMap* const net = meta.add_nets();
  net->set_key("PREDICT_NET_TYPE");
  *net->mutable_value() = NetThatOpensAFile();
  return meta;
}

void RunOnNothing(caffe2::Predictor&& predictor) {
  caffe2::Predictor::TensorList outputs;
  EXPECT_TRUE(predictor(caffe2::Predictor::TensorList(), &outputs));
}

TEST(CompatPredictorTest, OpensFilesWithoutAParent) {
  RunOnNothing(caffe2::Predictor(NetDef(), NetThatOpensAFile()));
  RunOnNothing(caffe2::Predictor(MetaNet()));
  ExpectThrows(
      [] {
        RunOnNothing(caffe2::Predictor(NetDef(), NetThatOpensAFile(), nullptr,
                                       {.file_access = FileAccess::Off()}));
      },
      "a net may not read");
}

TEST(CompatPredictorTest, OpensFilesWithAParentIfThatMay) {
  caffe2::Workspace parent;
  RunOnNothing(caffe2::Predictor(NetDef(), NetThatOpensAFile(), &parent));
  RunOnNothing(caffe2::Predictor(MetaNet(), &parent));
  parent.SetFileAccess(FileAccess::Off());
  ExpectThrows([&] { RunOnNothing(caffe2::Predictor(NetDef(), NetThatOpensAFile(), &parent)); },
               "a net may not read");
  ExpectThrows([&] { RunOnNothing(caffe2::Predictor(MetaNet(), &parent)); }, "a net may not read");
  RunOnNothing(caffe2::Predictor(MetaNet(), &parent, {.file_access = FileAccess::Free()}));
}

}  // namespace
}  // namespace caffe2rt::test::predictor_test
