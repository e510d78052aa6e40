// Blobs in several records of a database, blobs that a Load renames, devices of the nets that are compared, and images
// that arrive one by one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/blob_serialization.h"
#include "caffe2_core/io/db.h"
#include "caffe2_core/io/image.h"
#include "tests/programs/program_folder.h"
#include "tests/support/json.h"
#include "tests/support/shared.h"

namespace caffe2rt::test::blobs_and_devices_test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using namespace std::string_literals;
namespace fs = std::filesystem;

class SavedBlobsTest : public ProgramFolder {
 protected:
  // DIR/w.minidb with w of three floats, in records of two, and p/v of two.
  void SetUp() override {
    dir_.Write("save.pbtxt", R"(name: "s" network { name: "n"
        op { type: "ConstantFill" output: "w" arg { name: "shape" ints: 3 } }
        op { type: "ConstantFill" output: "p/v" arg { name: "shape" ints: 2 } }
        op { type: "Save" input: ["w", "p/v"] arg { name: "db" s: "w.minidb" }
             arg { name: "db_type" s: "minidb" } arg { name: "absolute_path" i: 0 }
             arg { name: "chunk_size" i: 2 } } }
        execution_step { network: "n" })");
    Out({"plan", "DIR/save.pbtxt", "--root", "DIR/"});
    dir_.Write("net.pbtxt", R"(name: "n" external_input: ["x", "w"] external_output: "y"
        op { type: "Add" input: ["x", "w"] output: "y" })");
  }
  void WriteLoad(const std::string& outputs, const std::string& arguments = "") const {
    dir_.Write("load.pbtxt", "op { type: \"Load\" output: [" + outputs +
                                 "] arg { name: \"db\" s: \"w.minidb\" } arg { name: \"db_type\" "
                                 "s: \"minidb\" } " +
                                 arguments + " }");
  }
};

TEST_F(SavedBlobsTest, EachRecordHasAPartOfTheElements) {
  EXPECT_EQ(Out({"inspect", "DIR/w.minidb"}),
            "DIR/w.minidb: a minidb database, 3 entries\n"
            "  w#%0    float [3]   elements 0 to 2\n"
            "  w#%1    float [3]   elements 2 to 3\n"
            "  p/v#%0  float [2]   elements 0 to 2\n");
  EXPECT_EQ(JsonAt(Out({"inspect", "DIR/w.minidb", "--json", "--limit", "2"}), "/tensors"),
            R"([{"name":"w#%0","type":"float","dims":[3],"detail":"elements 0 to 2"},)"
            R"({"name":"w#%1","type":"float","dims":[3],"detail":"elements 2 to 3"}])");
  dir_.Write("part.pbtxt", R"(name: "w" type: "Tensor" tensor { name: "w" dims: 10 data_type: FLOAT
      segment { begin: 4 end: 6 } float_data: [1, 2] })");
  EXPECT_EQ(Out({"inspect", "DIR/part.pbtxt"}),
            "DIR/part.pbtxt: a BlobProto, 1 entry\n  w  float [10]   elements 4 to 6\n");
}

TEST_F(SavedBlobsTest, ShapesOfLoadedBlobsAreThoseOfTheDatabase) {
  WriteLoad(R"("w", "p/v")");
  const Words init = {"--init-net", "DIR/load.pbtxt"};
  EXPECT_THAT(Out(Joined({"inspect", "DIR/net.pbtxt", "--input", "x=3"}, init)),
              HasSubstr("total: 3 parameters (12 B)"));
  EXPECT_EQ(Out(Joined({"check", "DIR/net.pbtxt", "--input", "x=3"}, init)),
            "DIR/load.pbtxt: net \"load\": fine\nDIR/net.pbtxt: net \"n\": fine\n");
  const ProgramResult other = Run(Joined({"check", "DIR/net.pbtxt", "--input", "x=4"}, init));
  EXPECT_EQ(other.code, 1);
  EXPECT_THAT(other.out, HasSubstr("input 1 (B) has shape [3], which does not fit input 0 (A) [4]"));
}

// Under which names a Load with these arguments looks for its outputs is not judged.
TEST_F(SavedBlobsTest, OutputsThatTheDatabaseLacksAreErrorsUnlessTheyMayHaveOtherNames) {
  const auto check = [&] { return Run({"check", "DIR/net.pbtxt", "--init-net", "DIR/load.pbtxt"}); };
  const std::string missing =
      "DIR/load.pbtxt: net \"load\": 1 error\n  error: operator 0: operator Load: database "
      "\"DIR/w.minidb\" does not have ";
  for (const char* arguments : {"", R"(arg { name: "allow_incomplete" i: 0 })"}) {
    WriteLoad(R"("v", "w", "u")", arguments);
    const ProgramResult result = check();
    EXPECT_EQ(result.code, 1);
    EXPECT_THAT(result.out, HasSubstr(missing + "\"v\", \"u\"\n"));
  }
  for (const char* arguments :
       {R"(arg { name: "allow_incomplete" i: 1 })", R"(arg { name: "add_prefix" s: "p/" })",
        R"(arg { name: "strip_prefix" s: "p/" })",
        R"(arg { name: "source_blob_names" strings: ["p/v", "w", "q"] })",
        R"(arg { name: "dbs" strings: ["w.minidb"] })"}) {
    WriteLoad(R"("v", "w", "u")", arguments);
    const ProgramResult result = check();
    EXPECT_EQ(result.code, 0) << arguments;
    EXPECT_THAT(result.out, HasSubstr("DIR/load.pbtxt: net \"load\": fine\n")) << arguments;
  }
  fs::remove(dir_.path("w.minidb"));
  WriteLoad("\"w\"");
  EXPECT_THAT(check().out, HasSubstr("operator 0: operator Load: cannot open \""));
}

// A blob that is no tensor is there, too. Its shape is not known.
TEST_F(SavedBlobsTest, ObjectsOfADatabaseAreLoaded) {
  Blob text;
  *text.GetMutable<std::string>() = "some text";
  {
    const std::unique_ptr<db::DB> database = db::OpenDB("minidb", dir_.path("t.minidb"), db::NEW);
    const std::unique_ptr<db::Transaction> transaction = database->NewTransaction();
    transaction->Put("t", SerializeBlob(text, "t"));
    transaction->Commit();
  }
  dir_.Write("load.pbtxt", R"(op { type: "Load" output: "t" arg { name: "db" s: "t.minidb" }
      arg { name: "db_type" s: "minidb" } })");
  EXPECT_THAT(Out({"inspect", "DIR/t.minidb"}),
              StartsWith("DIR/t.minidb: a minidb database, 1 entry\n  t  std::string   "));
  EXPECT_THAT(Out({"check", "DIR/net.pbtxt", "--init-net", "DIR/load.pbtxt"}),
              HasSubstr("DIR/load.pbtxt: net \"load\": fine\n"));
  EXPECT_THAT(Out({"run", "--predict-net", "DIR/net.pbtxt", "--init-net", "DIR/load.pbtxt",
                   "--input", "x=[1]", "--input", "w=[2]", "--fetch", "t"}),
              HasSubstr("\nt  string\n"));
  EXPECT_THAT(Out({"inspect", "DIR/net.pbtxt", "--init-net", "DIR/load.pbtxt", "--input", "x=1",
                   "--input", "w=1"}),
              HasSubstr("total: 0 parameters (0 B)"));
}

// --- compare ---

class ComparedDevicesTest : public ProgramFolder {
 protected:
  void SetUp() override {
    environment_.HideCuda();
    for (const auto& [name, device] : {std::pair("any", ""), {"cuda", "device_option { device_type: 1 }"}})
      dir_.Write(name + ".pbtxt"s, "name: \""s + name + "\" " + device +
                                       R"( external_input: "x" external_output: "y"
                                           op { type: "Sqr" input: "x" output: "y" })");
  }
  ProgramResult Compare(const std::string& first, const std::string& second,
                        const Words& more) const {
    return Run(Joined({"compare", "DIR/" + first + ".pbtxt", "DIR/" + second + ".pbtxt", "--input",
                       "x=[2]"},
                      more));
  }

 private:
  Environment environment_;
};

TEST_F(ComparedDevicesTest, TheSecondNetHasTheDeviceOfTheFirstOrItsOwn) {
  const std::string warning =
      "caffe2: warning: net \"cuda\" asks for CUDA, which is not available: it runs on the CPU\n";
  const struct {
    const char *first, *second;
    Words options;
    std::string err;
  } rows[] = {{"cuda", "cuda", {}, warning + warning},
              {"cuda", "any", {}, warning},
              {"any", "cuda", {}, warning},
              {"cuda", "cuda", {"--device", "cpu"}, ""},
              {"cuda", "cuda", {"--device2", "cpu"}, warning},
              {"cuda", "any", {"--device2", "cpu"}, warning},
              {"any", "cuda", {"--device2", "cpu"}, ""},
              {"any", "cuda", {"--device", "cpu", "--device2", "auto"}, warning},
              {"cuda", "any", {"--device", "cpu", "--device2", "auto"}, ""}};
  for (const auto& row : rows) {
    const ProgramResult result = Compare(row.first, row.second, row.options);
    EXPECT_EQ(result.code, 0) << result.out;
    EXPECT_EQ(result.err, row.err) << row.first << " " << row.second << " " << row.options.size();
  }
}

TEST_F(ComparedDevicesTest, ADeviceThatIsNamedMustBeThere) {
  for (const Words& options : {Words{"--device", "cuda"}, {"--device2", "cuda:0"},
                               {"--device", "cuda:0", "--device2", "cpu"},
                               {"--device", "cpu", "--device2", "cuda"}}) {
    const ProgramResult result = Compare("any", "any", options);
    EXPECT_EQ(result.code, 1);
    EXPECT_TRUE(result.err.starts_with("caffe2: device CUDA (type 1) is not available; available: "))
        << result.err;
  }
  for (const char* option : {"device", "device2"}) {
    const ProgramResult result = Compare("any", "any", {"--"s + option, "cp"});
    EXPECT_EQ(result.code, 2);
    EXPECT_EQ(result.err, "caffe2: option --"s + option +
                              " is \"cp\", want auto, cpu, cuda or cuda:N; did you mean cpu?\n");
  }
}

// --- kinds of files ---

// The bytes are a NetDef with an operator, and parse as a PlanDef with a net.
TEST_F(SavedBlobsTest, AFileOfAnotherKindIsReadAsTheOption) {
  dir_.Write("both.pb", "\x0a\x01p\x12\x09\x0a\x01n\x22\x04Relu");
  EXPECT_THAT(Out({"inspect", "DIR/both.pb"}), HasSubstr("DIR/both.pb: a NetDef\nnet \"p\", 1 operator\n"));
  EXPECT_THAT(Out({"inspect", "DIR/both.pb", "--as", "PlanDef"}),
              HasSubstr("DIR/both.pb: a PlanDef\nplan \"p\"\nnet \"n\", 0 operators\n"));
  EXPECT_EQ(Out({"check", "DIR/both.pb", "--as", "PlanDef"}),
            "DIR/both.pb: plan \"p\": 1 warning\n  warning: the plan has no execution step\n");
  EXPECT_THAT(Out({"plan", "DIR/both.pb", "--as", "PlanDef"}),
              HasSubstr("plan \"p\" done: 1 net, 0 steps, "));
  const ProgramResult plan = Run({"plan", "DIR/both.pb"});
  EXPECT_EQ(plan.code, 1);
  EXPECT_EQ(plan.err,
            "caffe2: file \"DIR/both.pb\" is a NetDef, want a PlanDef (caffe2 run accepts nets); "
            "--as specifies the kind\n");
}

// --- images ---

class ArrivingImagesTest : public ProgramFolder {
 protected:
  void SetUp() override {
    dir_.Write("net.pbtxt", R"(name: "n" external_input: "x" external_output: "y"
        op { type: "Copy" input: "x" output: "y" })");
    for (const char* name : {"a.png", "b.png"}) {
      dir_.Write(name, "");
      SavePng(dir_.path(name), {.width = 1, .height = 1, .rgb = {1, 2, *name == 'a' ? uint8_t{3} : uint8_t{4}}});
    }
  }
  // Runs a command of the shell in the folder. It begins the path of the program with "PROGRAM".
  ProgramResult Shell(std::string command) const {
    const std::string word = "PROGRAM";
    command.replace(command.find(word), word.size(), "'" + BuildPath(CAFFE2_PROGRAM) + "'");
    return RunProgram("/bin/sh", {"-c", "cd '" + dir_.path() + "' && " + command});
  }
  static std::string Line(const std::string& file, int blue) {
    return "{\"file\": \"" + file + "\", \"outputs\": [{\"name\": \"y\", \"type\": \"float\", " +
           "\"dims\": [1, 3, 1, 1], \"values\": [1, 2, " + std::to_string(blue) + "]}]}\n";
  }
};

TEST_F(ArrivingImagesTest, ANamedPipeIsReadImageByImage) {
  const ProgramResult result = Shell(
      "mkfifo p && { cat a.png b.png a.png > p & } && PROGRAM run --predict-net net.pbtxt "
      "--image p --json-lines");
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.out, Line("image 1 of p", 3) + Line("image 2 of p", 4) + Line("image 3 of p", 3));
  // The file may also be named with its blob.
  const ProgramResult named = Shell(
      "{ cat b.png > p & } && PROGRAM run --predict-net net.pbtxt --image x=p --json-lines");
  EXPECT_EQ(named.out, Line("image 1 of p", 4));
  EXPECT_EQ(Shell("PROGRAM run --predict-net net.pbtxt --image - --json-lines < /dev/null").out, "");
}

// Images that follow each other in a pipe, each of more than a pipe holds.
TEST_F(ArrivingImagesTest, LargeImagesFollowEachOther) {
  constexpr int kWidth = 240, kHeight = 200;
  std::vector<uint8_t> noise(size_t{3} * kWidth * kHeight);
  std::mt19937 random(5);
  for (uint8_t& byte : noise) byte = static_cast<uint8_t>(random());
  dir_.Write("large.png", "");
  SavePng(dir_.path("large.png"), {.width = kWidth, .height = kHeight, .rgb = noise});
  ASSERT_GT(ReadWholeFile(dir_.path("large.png")).size(), 100'000u);
  const std::string large = "[1,3,200,240]", small = "[1,3,1,1]";
  const struct {
    const char* files;
    std::vector<std::string> dims;
  } rows[] = {{"large.png large.png", {large, large}},
              {"a.png large.png b.png", {small, large, small}},
              {"large.png a.png large.png large.png b.png", {large, small, large, large, small}}};
  for (const auto& row : rows) {
    const ProgramResult result =
        Shell("cat "s + row.files + " | PROGRAM run --predict-net net.pbtxt --image - --json");
    EXPECT_EQ(result.code, 0) << result.err;
    ASSERT_EQ(JsonSize(result.out, "/images"), row.dims.size()) << row.files;
    for (size_t i = 0; i < row.dims.size(); ++i) {
      EXPECT_EQ(JsonAt(result.out, "/images/" + std::to_string(i) + "/outputs/0/dims"),
                row.dims[i]);
    }
  }
}

// What arrived before is written, if the images are not counted first.
TEST_F(ArrivingImagesTest, AnImageThatIsCutEndsTheStream) {
  const std::string image = ReadWholeFile(dir_.path("a.png"));
  dir_.Write("cut", image + image.substr(0, image.size() - 9));
  const ProgramResult lines =
      Shell("PROGRAM run --predict-net net.pbtxt --image - --json-lines < cut");
  EXPECT_EQ(lines.code, 1);
  EXPECT_EQ(lines.out, Line("image 1 of standard input", 3) +
                           "{\"file\": \"image 2 of standard input\", \"error\": \"image 2 of "
                           "standard input is truncated\"}\n");
  EXPECT_EQ(lines.err, "caffe2: image 2 of standard input is truncated\n");
  const ProgramResult json = Shell("PROGRAM run --predict-net net.pbtxt --image - --json < cut");
  EXPECT_EQ(json.code, 1);
  EXPECT_EQ(json.out, "") << "the number of images is not known";
  EXPECT_EQ(json.err, "caffe2: image 2 of standard input is truncated\n");
  // A stream of one image that is cut is that image.
  dir_.Write("cut", image.substr(0, image.size() - 9));
  const ProgramResult one = Shell("PROGRAM run --predict-net net.pbtxt --image - --json < cut");
  EXPECT_EQ(one.code, 1);
  EXPECT_EQ(one.out, "");
  EXPECT_THAT(one.err, HasSubstr("as PNG"));
}

// The decoder needs 12 bytes a pixel.
TEST_F(ArrivingImagesTest, TheMemoryLimitsThePixels) {
  SavePng(dir_.path("a.png"), {.width = 64, .height = 64, .rgb = std::vector<uint8_t>(size_t{64} * 64 * 3, 7)});
  const auto error = [&](const std::string& limit) {
    const ProgramResult result =
        Run({"run", "--predict-net", "DIR/net.pbtxt", "--image", "DIR/a.png", "--resize", "1x1",
             "--memory-limit", limit});
    EXPECT_EQ(result.code, limit == "64M" ? 0 : 1);
    return result.err;
  };
  const std::string pixels = "caffe2: cannot read \"DIR/a.png\": pixels of an image of 64x64: got 4096, ";
  EXPECT_EQ(error("49151"), pixels + "want at most 4095\n");
  EXPECT_EQ(error("12K"), pixels + "want at most 1024\n");
  EXPECT_THAT(error("49152"), HasSubstr("out of CPU memory"));
  EXPECT_EQ(error("64M"), "");
}

// A link to nothing is reported where the files are in their order, the other files run.
TEST_F(ArrivingImagesTest, LinksOfAFolderAreFollowed) {
  fs::create_directories(dir_.path("in/folder"));
  fs::create_symlink("../a.png", dir_.path("in/1.png"));
  fs::create_symlink("nothing", dir_.path("in/2.png"));
  fs::create_symlink("../b.png", dir_.path("in/3"));
  fs::create_symlink("folder", dir_.path("in/4.png"));
  const ProgramResult result =
      Run({"run", "--predict-net", "DIR/net.pbtxt", "--image", "DIR/in", "--json-lines"});
  EXPECT_EQ(result.code, 1);
  const std::string error = "cannot open \\\"DIR/in/2.png\\\": No such file or directory";
  EXPECT_EQ(result.out, Line("DIR/in/1.png", 3) + "{\"file\": \"DIR/in/2.png\", \"error\": \"" +
                            error + "\"}\n" + Line("DIR/in/3", 4));
  EXPECT_THAT(result.err, HasSubstr("2 entries are skipped, neither a JPEG or PNG image nor a .npy "
                                    "file: \"4.png\", \"folder\"\n"));
}

}  // namespace
}  // namespace caffe2rt::test::blobs_and_devices_test
