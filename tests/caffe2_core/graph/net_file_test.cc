#include "caffe2_core/graph/net_file.h"

#include <gtest/gtest.h>

#include <map>

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

// What FindDatabases makes of an operator of that type with these arguments, as text. There are
// root/under, nets/beside and nets/other.
std::string Found(const std::string& type, const std::string& args) {
  const TempDir dir;
  dir.Write("root/under", "");
  dir.Write("nets/beside", "");
  dir.Write("nets/other", "");
  NetDef net = ParseNet("op { type: \"" + type + "\" " + args + " }");
  FindDatabases(&net, dir.path("root"), dir.path("nets"));
  std::string text;
  for (const Argument& arg : net.op(0).arg()) {
    text += arg.name() + " " + (arg.has_i() ? std::to_string(arg.i()) : arg.s());
    for (const std::string& path : arg.strings()) text += path + " ";
    text += "; ";
  }
  for (size_t at; (at = text.find(dir.path(""))) != std::string::npos;) {
    text.replace(at, dir.path("").size(), "/");
  }
  return text;
}

TEST(NetFileTest, AllPathsOfALoadBecomeAbsoluteIfOneChanges) {
  const auto path = [](const std::string& name, const std::string& value) {
    return "arg { name: \"" + name + "\" s: \"" + value + "\" } ";
  };
  const std::string list = R"(arg { name: "dbs" strings: "under" strings: "beside" strings: "no"
                                    strings: "/tmp/a" strings: "" } )";
  EXPECT_EQ(Found("Load", list),
            "dbs /root/under /nets/beside /root/no /tmp/a /root/ ; absolute_path 1; ");
  EXPECT_EQ(Found("Load", path("db", "under") + path("x", "beside")), "db under; x beside; ");
  EXPECT_EQ(Found("Load", path("db", "no")), "db no; ");
  EXPECT_EQ(Found("Load", path("db", "")), "db ; ");
  EXPECT_EQ(Found("Load", path("db", "under") + R"(arg { name: "dbs" strings: "other" } )"),
            "db /root/under; dbs /nets/other ; absolute_path 1; ");
  EXPECT_EQ(Found("DBExists", path("db_name", "beside")),
            "db_name /nets/beside; absolute_path 1; ");
  EXPECT_EQ(Found("DBExists", path("db_name", "under")), "db_name under; ");
  // A path that is said to be absolute stays; a flag that is 0 is set.
  const std::string flag = R"(arg { name: "absolute_path" i: )";
  EXPECT_EQ(Found("Load", path("db", "beside") + flag + "1 }"), "db beside; absolute_path 1; ");
  EXPECT_EQ(Found("Load", path("db", "beside") + flag + "0 }"),
            "db /nets/beside; absolute_path 1; ");
}

// CreateDB has no flag; each of its paths changes by itself.
TEST(NetFileTest, PathsOfCreatedDatabasesAreThoseThatExist) {
  for (const auto& [from, to] : std::map<std::string, std::string>{{"under", "/root/under"},
                                                                   {"beside", "/nets/beside"},
                                                                   {"no", "no"},
                                                                   {"", ""},
                                                                   {"/tmp/a", "/tmp/a"}}) {
    EXPECT_EQ(Found("CreateDB", "arg { name: \"db\" s: \"" + from + "\" }"), "db " + to + "; ");
    EXPECT_EQ(Found("CreateDB", "arg { name: \"db_name\" s: \"" + from + "\" }"),
              "db_name " + from + "; ");
    EXPECT_EQ(Found("Checkpoint", "arg { name: \"db\" s: \"" + from + "\" }"), "db " + from + "; ");
  }
}

TEST(NetFileTest, FindsDatabasesOfNestedNets) {
  const TempDir dir;
  dir.Write("nets/w", "");
  dir.Write("root/other", "");
  const std::string load = R"(op { type: "Load" output: "w" arg { name: "db" s: "w" } })";
  NetDef net = ParseNet("op { type: \"If\" arg { name: \"a\" n { " + load +
                        " } } arg { name: \"b\" nets { } nets { " + load + " } } }");
  FindDatabases(&net, dir.path("root"), dir.path("nets"));
  EXPECT_EQ(net.op(0).arg(0).n().op(0).arg(0).s(), dir.path("nets/w"));
  EXPECT_EQ(net.op(0).arg(1).nets(1).op(0).arg(0).s(), dir.path("nets/w"));
  test::ExpectThrows([] { FindDatabases(nullptr, "", ""); },
                     "argument net of FindDatabases is null");
}

TEST(NetFileTest, NamesOfFilesAndNets) {
  EXPECT_EQ(FileStem("models/predict_net.pb"), "predict_net");
  EXPECT_EQ(FileStem("a.b.pbtxt"), "a.b");
  EXPECT_EQ(FileStem("/x/plain"), "plain");
  EXPECT_EQ(FileStem("/dev/stdin"), "stdin");
  NetDef net;
  NameNet(&net, "first");
  NameNet(&net, "second");
  EXPECT_EQ(net.name(), "first");
  test::ExpectThrows([] { NameNet(nullptr, "n"); }, "argument net of NameNet is null");
}

}  // namespace
}  // namespace caffe2rt::test::net_file_test
