// `caffe2 db`.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/db.h"
#include "caffe2_core/io/image.h"
#include "caffe2_core/io/npy.h"
#include "tests/programs/program_runner.h"
#include "tests/support/json.h"
#include "tests/support/shared.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::db_test {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;

class DbTest : public ::testing::Test {
 protected:
  static ProgramResult Db(std::vector<std::string> args) {
    args.insert(args.begin(), "db");
    return RunCaffe2(args);
  }
  // Three rows of two floats, with labels 1, 0, 1.
  std::string MakeArrays(const std::string& name) {
    Tensor x({3, 2}, CPU), y({3}, CPU);
    for (int i = 0; i < 6; ++i) x.mutable_data<float>()[i] = static_cast<float>(i);
    for (int i = 0; i < 3; ++i) y.mutable_data<int64_t>()[i] = (i + 1) % 2;
    WriteNpy(dir_.path("x.npy"), x);
    WriteNpy(dir_.path("y.npy"), y);
    const ProgramResult result =
        Db({"make", "arrays", dir_.path("x.npy"), dir_.path("y.npy"), "--output", dir_.path(name)});
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_EQ(result.out, dir_.path(name) + ": 3 records\n");
    return dir_.path(name);
  }
  const TempDir dir_;
};

TEST_F(DbTest, MakesArraysThatANetReads) {
  MakeArrays("a.lmdb");
  const std::string net = dir_.Write("net.pbtxt", R"(
      external_output: "x" external_output: "y"
      op { type: "CreateDB" output: "reader" arg { name: "db_type" s: "lmdb" } arg { name: "db" s: ")" +
                                                      dir_.path("a.lmdb") + R"(" } }
      op { type: "TensorProtosDBInput" input: "reader" output: "x" output: "y"
           arg { name: "batch_size" i: 2 } })");
  const ProgramResult result = RunCaffe2({"run", "--predict-net", net});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out,
              AllOf(HasSubstr("x  float [2, 2]\n  0 1 2 3\n"), HasSubstr("y  int32 [2]\n  1 0\n")));
}

TEST_F(DbTest, ListsRecords) {
  const std::string db = MakeArrays("a.minidb");
  const ProgramResult table = Db({"list", db, "--limit", "2"});
  EXPECT_EQ(table.code, 0) << table.err;
  EXPECT_THAT(table.out, AllOf(HasSubstr("00000000"), HasSubstr("00000001"),
                               ::testing::Not(HasSubstr("00000002")),
                               HasSubstr("float [2], int32 []"), HasSubstr("--limit 0 lists all")));
  const std::string lines = Db({"list", db, "--json"}).out;
  const std::string first = lines.substr(0, lines.find('\n'));
  EXPECT_EQ(JsonAt(first, "/key"), R"("00000000")");
  EXPECT_EQ(JsonAt(first, "/label"), "1");
}

TEST_F(DbTest, CountsRecordsAndLabels) {
  const std::string db = MakeArrays("a.leveldb");
  EXPECT_THAT(Db({"info", db}).out,
              AllOf(HasSubstr("leveldb, 3 records, "), HasSubstr("3 of float [2], int32 []")));
  const std::string json = Db({"info", db, "--json"}).out;
  EXPECT_EQ(JsonAt(json, "/type"), R"("leveldb")");
  EXPECT_EQ(JsonAt(json, "/records"), "3");
  EXPECT_EQ(JsonAt(json, "/labels"), R"({"0":1,"1":2})");
}

// The fields 1 to 5 of a Datum: channels, height, width, data, label.
TEST_F(DbTest, ShowsTheLabelsOfDatumsAndNoneOfOtherRecords) {
  {
    const auto database = db::CreateDB("minidb", dir_.path("d.minidb"), db::NEW);
    const auto transaction = database->NewTransaction();
    transaction->Put("a", std::string("\x08\x01\x10\x01\x18\x02\x22\x02zz\x28\x07", 12));
    transaction->Put("b", "no message");
    transaction->Commit();
  }
  const std::string db = dir_.path("d.minidb");
  const std::string lines = Db({"list", db, "--json"}).out;
  const size_t end = lines.find('\n');
  EXPECT_EQ(JsonAt(lines.substr(0, end), "/label"), "7");
  EXPECT_EQ(JsonAt(lines.substr(0, end), "/bytes"), "12");
  EXPECT_EQ(lines.substr(end).find("label"), std::string::npos) << lines;
  const std::string json = Db({"info", db, "--json"}).out;
  EXPECT_EQ(JsonAt(json, "/labels"), R"({"7":1})");
  EXPECT_EQ(JsonAt(json, "/contents"), R"({"Datum of Caffe [1, 1, 2]":1,"bytes":1})");
  EXPECT_EQ(JsonAt(json, "/bytes"), "22");
  EXPECT_EQ(Db({"info", db}).out, db + ": minidb, 2 records, 22 bytes\n"
                                       "  1 of Datum of Caffe [1, 1, 2]\n"
                                       "  1 of bytes\n"
                                       "labels\n"
                                       "  label  records\n"
                                       "      7        1\n");
}

TEST_F(DbTest, ConvertsAndSplits) {
  const std::string db = MakeArrays("a.lmdb");
  EXPECT_EQ(Db({"convert", db, "--output", dir_.path("b.minidb")}).out,
            dir_.path("b.minidb") + ": 3 records\n");
  const std::string prefix = dir_.path("part_");
  EXPECT_EQ(Db({"split", dir_.path("b.minidb"), "--parts", "2", "--output", prefix}).out,
            prefix + "0\n" + prefix + "1\n");
  EXPECT_EQ(JsonAt(Db({"info", prefix + "0", "--json"}).out, "/labels"), R"({"1":2})");
  EXPECT_EQ(JsonAt(Db({"info", prefix + "1", "--json"}).out, "/labels"), R"({"0":1})");
}

TEST_F(DbTest, TimesReading) {
  const std::string db = MakeArrays("a.lmdb");
  for (const char* readers : {"1", "2"}) {
    const ProgramResult result =
        Db({"throughput", db, "--repeat", "2", "--readers", readers, "--json"});
    EXPECT_EQ(result.code, 0) << result.err;
    const std::string first = result.out.substr(0, result.out.find('\n'));
    EXPECT_EQ(JsonAt(first, "/records"), "3");
    EXPECT_EQ(JsonAt(first, "/round"), "1");
    EXPECT_EQ(std::count(result.out.begin(), result.out.end(), '\n'), 2);
  }
  EXPECT_THAT(Db({"throughput", db, "--repeat", "1"}).out, HasSubstr("round 1: 3 records in "));
  EXPECT_THAT(Db({"throughput", db, "--repeat", "1", "--batch-size", "2"}).out,
              HasSubstr("round 1: 4 records in "));
  EXPECT_THAT(Db({"throughput", db, "--readers", "2", "--batch-size", "2"}).err,
              HasSubstr("an operator is one reader"));
}

TEST_F(DbTest, MakesImagesAndTheNamesOfTheirClasses) {
  for (const char* name : {"pets/cat/1.png", "pets/dog/2.png"}) {
    dir_.Write(name, "");
    SavePng(dir_.path(name), {.width = 2, .height = 1, .rgb = std::vector<uint8_t>(6, 7)});
  }
  dir_.Write("pets/dog/notes.txt", "");
  const std::string db = dir_.path("images.lmdb");
  const ProgramResult result =
      Db({"make", "images", dir_.path("pets"), "--raw", "--size", "0", "--output", db, "--json"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("1 entry is skipped"));
  EXPECT_EQ(JsonAt(result.out, "/records"), "2");
  EXPECT_EQ(ReadWholeFile(db + ".labels.txt"), "cat\ndog\n");
  EXPECT_THAT(Db({"list", db}).out, HasSubstr("uint8 [1, 2, 3], int32 [1]"));
  dir_.Write("pets/dog/bad.png", "no image");
  const std::string again = dir_.path("again.lmdb");
  EXPECT_THAT(Db({"make", "images", dir_.path("pets"), "--output", again}).err,
              AllOf(HasSubstr("\ncaffe2: cannot read "), HasSubstr("bad.png\" as an image"),
                    EndsWith("; --skip-damaged leaves such files out\n")));
  EXPECT_FALSE(std::filesystem::exists(again));
  const ProgramResult skipped =
      Db({"make", "images", dir_.path("pets"), "--skip-damaged", "--output", again});
  EXPECT_EQ(skipped.out, again + ": 2 records\n");
  EXPECT_THAT(skipped.err, HasSubstr("warning: skipped: "));
}

TEST_F(DbTest, RejectsWrongUse) {
  const std::string db = MakeArrays("a.lmdb"), out = dir_.path("b.lmdb");
  const std::pair<std::vector<std::string>, const char*> cases[] = {
      {{}, "an action is missing"},
      {{"lits", db}, "did you mean list?"},
      {{"mak", db}, "did you mean make?"},
      {{"info_", db}, "did you mean info?"},
      {{"convrt", db}, "did you mean convert?"},
      {{"spit", db}, "did you mean split?"},
      {{"throughput2", db}, "did you mean throughput?"},
      {{"i", db},
       "action \"i\" of db is not known, want make, list, info, convert, split or throughput"},
      {{"info", db, "--memory-limit", "x"}, "option --memory-limit is \"x\""},
      {{"make"}, "the data set is missing"},
      {{"make", "minst", "--output", out}, "did you mean mnist?"},
      {{"make", "mnist", "x", "--output", out}, "a file of images and one of labels"},
      {{"make", "arrays", "x.npy"}, "want --output PATH"},
      {{"make", "arrays", "x.npy", "--output", out, "--raw"},
       "--raw does not apply to `caffe2 db make arrays`"},
      {{"make", "images", ".", "--output", out, "--warp"}, "--warp needs --raw"},
      {{"make", "images", ".", "--output", out, "--seed", "1"}, "--seed needs --shuffle"},
      {{"make", "cifar", "a", "--output", out, "--coarse"}, "--coarse needs --cifar100"},
      {{"make", "cifar", "a", "b", "--output", out, "--test"},
       "--test chooses the files of a folder"},
      {{"list", db, "--parts", "2"}, "--parts does not apply to `caffe2 db list`"},
      {{"info", db, db}, "2 databases are given, want one"},
      {{"convert", db}, "want --output PATH"},
  };
  for (const auto& [args, message] : cases) {
    const ProgramResult result = Db(args);
    EXPECT_EQ(result.code, 2) << message;
    EXPECT_THAT(result.err, HasSubstr(message));
  }
}

TEST_F(DbTest, NamesFilesThatAreNoDatabases) {
  MakeArrays("a.lmdb");
  EXPECT_THAT(Db({"info", dir_.path("x.npy")}).err, HasSubstr("want a database"));
  EXPECT_THAT(Db({"info", dir_.path("none")}).err, HasSubstr("as a database"));
  EXPECT_EQ(Db({"make", "images", "nowhere", "--output", dir_.path("b.lmdb")}).err,
            "caffe2: cannot open folder \"nowhere\": No such file or directory\n");
  const ProgramResult taken =
      Db({"make", "arrays", dir_.path("x.npy"), "--output", dir_.path("a.lmdb")});
  EXPECT_EQ(taken.code, 1);
  EXPECT_THAT(taken.err, HasSubstr("exists"));
}

TEST(DbOnSharedFilesTest, MakesMnist) {
  SKIP_WITHOUT_SHARED("data/mnist/t10k-images-idx3-ubyte.gz");
  const TempDir dir;
  const std::string db = dir.path("test.lmdb"), mnist = SharedPath("data/mnist/t10k-");
  const ProgramResult made = RunCaffe2({"db", "make", "mnist", mnist + "images-idx3-ubyte.gz",
                                        mnist + "labels-idx1-ubyte.gz", "--output", db});
  EXPECT_EQ(made.out, db + ": 10000 records\n") << made.err;
  // The numbers of each digit in MNIST's test images.
  EXPECT_EQ(
      JsonAt(RunCaffe2({"db", "info", db, "--json"}).out, "/labels"),
      R"({"0":980,"1":1135,"2":1032,"3":1010,"4":982,"5":892,"6":958,"7":1028,"8":974,"9":1009})");
}

}  // namespace
}  // namespace caffe2rt::test::db_test
