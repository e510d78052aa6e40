// Which files nets can access through the programs. Paths out of the allowed folders, links, pipes
// and devices cause a one-line error that names the option to allow them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/db.h"
#include "caffe2_core/io/proto_file.h"
#include "caffe2rt/metanet.pb.h"
#include "tests/programs/program_runner.h"
#include "tests/support/shared.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::file_policy_test {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string Op(const std::string& type, const std::string& name, const std::string& path,
               const std::string& db_type = "minidb") {
  const std::string blobs = type == "Save" ? "input: 'w'" : "output: 'r'";
  return "op { type: '" + type + "' " + blobs + " arg { name: '" + name + "' s: '" + path +
         "' } arg { name: 'db_type' s: '" + db_type + "' } } ";
}
const char kFill[] =
    "op { type: 'ConstantFill' output: 'w' arg { name: 'shape' ints: 1 } arg { name: 'value' f: 3 "
    "} } ";

// A folder of nets, a folder for --root, and a folder outside both.
class FilePolicyProgramTest : public testing::Test {
 protected:
  FilePolicyProgramTest() {
    for (const char* name : {"nets", "root", "outside"}) fs::create_directory(dir_.path(name));
    dir_.Write("outside/bait", "bait");
    bait_ = fs::canonical(dir_.path("outside/bait")).string();
  }
  ~FilePolicyProgramTest() override { EXPECT_EQ(ReadWholeFile(bait_), "bait"); }

  // Writes a net, or for `plan` a plan with that net, to the folder of nets and runs it.
  ProgramResult Run(const std::string& command, const std::string& ops,
                    std::vector<std::string> more = {}) {
    const std::string net = "name: 'n' " + ops;
    const std::string file =
        command == "plan" ? dir_.Write("nets/plan.pbtxt", "name: 'p' network { " + net +
                                                              "} execution_step { network: 'n' }")
                          : dir_.Write("nets/net.pbtxt", net);
    std::vector<std::string> args = {command};
    if (command != "plan") args.push_back("--predict-net");
    args.insert(args.end(), {file, "--root", dir_.path("root")});
    args.insert(args.end(), more.begin(), more.end());
    return RunCaffe2(args);
  }
  void ExpectRefused(const std::string& ops, const std::string& reason) {
    for (const char* command : {"run", "plan"}) {
      SCOPED_TRACE(std::string(command) + " of " + ops);
      const ProgramResult result = Run(command, ops);
      EXPECT_EQ(result.code, 1);
      EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
      EXPECT_THAT(result.err,
                  AllOf(StartsWith("caffe2: "), HasSubstr("a net may not "), HasSubstr(reason),
                        HasSubstr("; --allow-files-anywhere allows it")));
    }
  }

  const TempDir dir_;
  std::string bait_;
};

TEST_F(FilePolicyProgramTest, NetsReachTheRootAndTheirOwnFolder) {
  for (const char* command : {"run", "plan"}) {
    const ProgramResult save = Run(command, kFill + Op("Save", "db", "saved"));
    EXPECT_EQ(save.code, 0) << save.err;
    fs::rename(dir_.path("root/saved"), dir_.path("nets/beside"));
    const ProgramResult load =
        Run(command, Op("CreateDB", "db", "beside") + Op("DBExists", "db_name", "beside"));
    EXPECT_EQ(load.code, 0) << load.err;
  }
}

TEST_F(FilePolicyProgramTest, NetsReachNothingElse) {
  const std::string reason = "it is not below \"" + fs::canonical(dir_.path("root")).string() +
                             "\" or \"" + fs::canonical(dir_.path("nets")).string() + "\"";
  ExpectRefused(kFill + Op("Save", "db", "../outside/new"), reason);
  ExpectRefused(Op("DBExists", "db_name", "../outside/bait"), reason);
  ExpectRefused(Op("CreateDB", "db", bait_), reason);
  ExpectRefused(Op("CreateDB", "db", "/etc/passwd", "protodb"), reason);
  fs::create_directory_symlink("../outside", dir_.path("root/link"));
  ExpectRefused(kFill + Op("Save", "db", "link/bait"), reason);
  ExpectRefused(kFill + Op("Save", "db", "link/new", "leveldb"), reason);
  EXPECT_EQ(std::distance(fs::directory_iterator(dir_.path("outside")), {}), 1);
}

TEST_F(FilePolicyProgramTest, PipesAndDevicesEndAtOnce) {
  ASSERT_EQ(mkfifo(dir_.path("root/pipe").c_str(), 0600), 0);
  fs::create_symlink("/dev/zero", dir_.path("root/zero"));
  for (const char* type : {"minidb", "protodb"}) {
    ExpectRefused(Op("CreateDB", "db", dir_.path("root/pipe"), type), "it is a pipe");
    ExpectRefused(Op("DBExists", "db_name", "zero", type), "it is not below");
    ExpectRefused(kFill + Op("Save", "db", "pipe", type), "it is a pipe");
  }
  fs::create_directory(dir_.path("root/lmdb"));
  fs::create_symlink("/dev/zero", dir_.path("root/lmdb/data.mdb"));
  ExpectRefused(Op("DBExists", "db_name", "lmdb", "lmdb"), "data.mdb\": it is a symbolic link out");
}

TEST_F(FilePolicyProgramTest, AnOptionFreesAccess) {
  for (const char* command : {"run", "plan"}) {
    const ProgramResult result =
        Run(command, kFill + Op("Save", "db", "../outside/new"), {"--allow-files-anywhere"});
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_TRUE(fs::remove(dir_.path("outside/new")));
  }
}

TEST_F(FilePolicyProgramTest, PrintStaysInTheRoot) {
  const std::string ops =
      "op { type: 'ConstantFill' output: '../x' arg { name: 'shape' ints: 1 } } "
      "op { type: 'Print' input: '../x' arg { name: 'to_file' i: 1 } }";
  EXPECT_EQ(Run("run", ops).code, 0);
  EXPECT_EQ(ReadWholeFile(dir_.path("root/..%2Fx.log")),
            "Tensor ../x of type float. Dims: (1,): 0\n");
}

TEST_F(FilePolicyProgramTest, ANetFromAPipeHasOnlyTheRoot) {
  const std::string net =
      "op { type: 'DBExists' output: 'r' arg { name: 'db_type' s: 'minidb' } "
      "arg { name: 'absolute_path' i: 1 } arg { name: 'db_name' s: '" +
      dir_.path("nets/m") + "' } }";
  const std::string file = dir_.Write("nets/net.pbtxt", net), pipe = dir_.path("nets/pipe");
  EXPECT_EQ(RunCaffe2({"run", "--predict-net", file}).code, 0);
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const auto run = [&](const std::string& root) {
    // The shell's open for writing blocks until the program opens the pipe for reading.
    return RunProgram("/bin/sh",
                      {"-c", "cat " + file + " > " + pipe + " & exec " + BuildPath(CAFFE2_PROGRAM) +
                                 " run --predict-net " + pipe + " --root " + root});
  };
  EXPECT_THAT(run(dir_.path("root")).err, HasSubstr("a net may not read"));
  EXPECT_EQ(run(dir_.path("nets")).code, 0);
  const ProgramResult from_input = RunProgram(
      "/bin/sh",
      {"-c", "exec " + BuildPath(CAFFE2_PROGRAM) + " run --predict-net /dev/stdin < " + file});
  EXPECT_THAT(from_input.err, AllOf(HasSubstr("a net may not read"), Not(HasSubstr("/dev"))));
}

TEST_F(FilePolicyProgramTest, APredictorReachesTheFolderOfItsDatabase) {
  const auto run = [&](const std::string& path, std::vector<std::string> more = {},
                       const std::string& type = "minidb") {
    MetaNetDef meta;
    NetsMap* entry = meta.add_nets();
    entry->set_key("PREDICT_NET_TYPE");
    ParseTextProto(
        "op { type: 'DBExists' output: 'r' arg { name: 'db_type' s: 'minidb' } "
        "arg { name: 'absolute_path' i: 1 } arg { name: 'db_name' s: '" +
            path + "' } } external_output: 'r'",
        "test", entry->mutable_value());
    BlobProto blob;
    blob.set_name("!!META_NET_DEF");
    blob.set_type("std::string");
    blob.set_content(meta.SerializeAsString());
    const std::string predictor = dir_.path("nets/p." + type);
    {
      const auto database = db::CreateDB(type, predictor, db::NEW);
      database->NewTransaction()->Put("!!META_NET_DEF", blob.SerializeAsString());
    }
    // A folder may be given with a trailing slash.
    more.insert(more.begin(), {"run", "--predictor", predictor + (type == "lmdb" ? "/" : "")});
    return RunCaffe2(more);
  };
  EXPECT_EQ(run(dir_.path("nets/other")).code, 0);
  EXPECT_EQ(run(dir_.path("nets/other"), {}, "lmdb").code, 0);
  EXPECT_THAT(run(dir_.path("outside/m")).err, HasSubstr("--allow-files-anywhere allows it"));
  EXPECT_EQ(run(dir_.path("outside/m"), {"--root", dir_.path("outside")}).code, 0);
  EXPECT_EQ(run(dir_.path("outside/m"), {"--allow-files-anywhere"}).code, 0);
}

TEST_F(FilePolicyProgramTest, InspectOpensNoDatabaseElsewhere) {
  ASSERT_EQ(Run("run", kFill + Op("Save", "db", "../outside/w"), {"--allow-files-anywhere"}).code,
            0);
  const std::string init =
      dir_.Write("nets/init.pbtxt",
                 "op { type: 'Load' output: 'w' arg { name: 'absolute_path' i: 1 } arg { "
                 "name: 'db' s: '" +
                     dir_.path("outside/w") + "' } arg { name: 'db_type' s: 'minidb' } }");
  const std::string net = dir_.Write(
      "nets/net.pbtxt", "op { type: 'Relu' input: 'w' output: 'y' } external_input: 'w'");
  EXPECT_THAT(RunCaffe2({"inspect", net, "--init-net", init}).out, HasSubstr("Relu  y       ?"));
  EXPECT_THAT(RunCaffe2({"inspect", net, "--init-net", init, "--allow-files-anywhere"}).out,
              HasSubstr("Relu  y       float [1]"));
}

}  // namespace
}  // namespace caffe2rt::test::file_policy_test
