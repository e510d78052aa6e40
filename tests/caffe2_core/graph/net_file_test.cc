#include "caffe2_core/graph/net_file.h"

#include <gtest/gtest.h>

#include "caffe2_core/graph/arguments.h"
#include "tests/support/operator_test.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::net_file_test {
namespace {

TEST(NetFileTest, NamesUnnamedNetsByTheFile) {
  const TempDir dir;
  EXPECT_EQ(LoadNet(dir.Write("tiny.v2.pbtxt", "op { type: \"Relu\" input: \"x\" output: \"y\" }"))
                .name(),
            "tiny.v2");
  EXPECT_EQ(LoadNet(dir.Write("a.pbtxt",
                              "name: \"own\" op { type: \"Relu\" input: \"x\" output: \"y\" }"))
                .name(),
            "own");
}

NetDef LoadingNet(const std::string& path) {
  NetDef net = ParseNet(R"(op { type: "Load" output: "w" arg { name: "db" } })");
  net.mutable_op(0)->mutable_arg(0)->set_s(path);
  return net;
}

TEST(NetFileTest, FindsADatabaseBesideTheNet) {
  const TempDir dir;
  dir.Write("nets/weights.minidb", "");
  dir.Write("root/other", "");
  NetDef net = LoadingNet("weights.minidb");
  FindDatabases(&net, dir.path("root"), dir.path("nets"));
  EXPECT_EQ(net.op(0).arg(0).s(), dir.path("nets/weights.minidb"));
  EXPECT_TRUE(GetFlagArgument(net.op(0), "absolute_path"));
}

TEST(NetFileTest, TheRootGoesFirst) {
  const TempDir dir;
  dir.Write("nets/weights.minidb", "");
  dir.Write("root/weights.minidb", "");
  NetDef net = LoadingNet("weights.minidb");
  FindDatabases(&net, dir.path("root"), dir.path("nets"));
  EXPECT_EQ(net.op(0).arg(0).s(), "weights.minidb");
}

TEST(NetFileTest, SpellsOutADatabaseThatIsOpenedUnderTheRoot) {
  const TempDir dir;
  dir.Write("root/train.minidb", "");
  NetDef net = LoadingNet("train.minidb");
  net.mutable_op(0)->set_type("CreateDB");
  FindDatabases(&net, dir.path("root"), dir.path("nets"));
  EXPECT_EQ(net.op(0).arg(0).s(), dir.path("root/train.minidb"));
}

TEST(NetFileTest, LeavesWritersAlone) {
  const TempDir dir;
  dir.Write("nets/weights.minidb", "");
  NetDef net = LoadingNet("weights.minidb");
  net.mutable_op(0)->set_type("Save");
  FindDatabases(&net, dir.path("root"), dir.path("nets"));
  EXPECT_EQ(net.op(0).arg(0).s(), "weights.minidb");
}

}  // namespace
}  // namespace caffe2rt::test::net_file_test
