// `caffe2 convert` for files of tensors and databases.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/db.h"
#include "caffe2_core/io/npy.h"
#include "tests/programs/program_runner.h"
#include "tests/support/json.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::convert_tensors_test {
namespace {

using ::testing::HasSubstr;

class ConvertTensorsTest : public ::testing::Test {
 protected:
  template <class T>
  static Tensor Vector(const std::vector<T>& values) {
    Tensor tensor({static_cast<int64_t>(values.size())}, CPU);
    T* const data = tensor.mutable_data<T>();
    for (size_t i = 0; i < values.size(); ++i) data[i] = values[i];
    return tensor;
  }
  ProgramResult Convert(const std::string& from, const std::string& to,
                        std::vector<std::string> more = {}) {
    std::vector<std::string> args = {"convert", dir_.path(from), "--output", dir_.path(to)};
    args.insert(args.end(), more.begin(), more.end());
    return RunCaffe2(args);
  }
  // One tensor of every type that .npy has, with names that are not file names.
  std::string WriteAllTypes() {
    const NamedTensors tensors = {
        {"scope/float:0", Vector<float>({1.5f, -2})},
        {"double", Vector<double>({1e300})},
        {"half", Vector<float16>({0.5f})},
        {"i64", Vector<int64_t>({INT64_MIN})},
        {"i32", Vector<int32_t>({-7})},
        {"i16", Vector<int16_t>({-300})},
        {"i8", Vector<int8_t>({-128})},
        {"u16", Vector<uint16_t>({65535})},
        {"u8", Vector<uint8_t>({255})},
        {"bool", Vector<bool>({true, false})},
        {"empty", Tensor(Vector<float>({}))},
    };
    WriteNpz(dir_.path("all.npz"), tensors);
    return "all.npz";
  }
  TempDir dir_;
};

TEST_F(ConvertTensorsTest, KeepsNamesTypesAndValuesThroughAllFormats) {
  std::string from = WriteAllTypes();
  // Databases order their records by name; minidb, TensorProtos and .npz keep the order.
  for (const char* to : {"a.minidb", "b.pb", "c.leveldb", "d.lmdb", "e.pbtxt", "f.npz"}) {
    const ProgramResult result = Convert(from, to);
    ASSERT_EQ(result.code, 0) << to << ": " << result.err;
    from = to;
  }
  const ProgramResult compared =
      RunCaffe2({"compare", dir_.path("all.npz"), dir_.path("f.npz"), "--tol", "0", "--json"});
  EXPECT_EQ(compared.code, 0) << compared.out << compared.err;
  EXPECT_EQ(JsonSize(compared.out, "/blobs"), 11u);
}

TEST_F(ConvertTensorsTest, WritesDatabasesThatLoadReads) {
  WriteNpz(dir_.path("w.npz"), {{"w", Vector<float>({1, 2, 3})}});
  ASSERT_EQ(Convert("w.npz", "w.minidb").code, 0);
  const std::string init = dir_.Write("init.pbtxt", R"(
      op { type: "Load" output: "w" arg { name: "db" s: "w.minidb" } arg { name: "db_type" s: "minidb" } })");
  const std::string net = dir_.Write("net.pbtxt", R"(
      external_input: "w" op { type: "Negative" input: "w" output: "y" })");
  const ProgramResult result =
      RunCaffe2({"run", "--init-net", init, "--predict-net", net, "--root", dir_.path()});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("y  float [3]\n  -1 -2 -3\n"));
}

TEST_F(ConvertTensorsTest, JoinsTheChunksOfALargeTensor) {
  Tensor large({2500000}, CPU);
  float* const data = large.mutable_data<float>();
  for (int i = 0; i < 2500000; ++i) data[i] = static_cast<float>(i);
  WriteNpy(dir_.path("large.npy"), large);
  ASSERT_EQ(Convert("large.npy", "large.lmdb").code, 0);
  ASSERT_EQ(Convert("large.lmdb", "back.npy").code, 0);
  EXPECT_EQ(ReadWholeFile(dir_.path("back.npy")), ReadWholeFile(dir_.path("large.npy")));
}

TEST_F(ConvertTensorsTest, NamesATensorAfterItsFileOrAsAsked) {
  WriteNpy(dir_.path("mean.npy"), Vector<float>({1}));
  ASSERT_EQ(Convert("mean.npy", "a.npz").code, 0);
  EXPECT_EQ(ReadNpz(dir_.path("a.npz"))[0].first, "mean");
  ASSERT_EQ(Convert("mean.npy", "b.npz", {"--name", "data_mean"}).code, 0);
  EXPECT_EQ(ReadNpz(dir_.path("b.npz"))[0].first, "data_mean");
}

TEST_F(ConvertTensorsTest, CopiesRecordsOfADatabaseAsTheyAre) {
  {
    const auto database = db::CreateDB("minidb", dir_.path("raw.minidb"), db::NEW);
    const auto transaction = database->NewTransaction();
    transaction->Put("b", std::string("\0raw", 4));
    transaction->Put("a", "text");
    transaction->Commit();
  }
  ASSERT_EQ(Convert("raw.minidb", "raw.lmdb").code, 0);
  const auto database = db::CreateDB("lmdb", dir_.path("raw.lmdb"), db::READ);
  const auto cursor = database->NewCursor();
  EXPECT_EQ(cursor->key() + cursor->value(), "atext");
  cursor->Next();
  EXPECT_EQ(cursor->key() + cursor->value(), std::string("b\0raw", 5));
  const ProgramResult result = Convert("raw.minidb", "raw.npz");
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, HasSubstr("neither a blob nor TensorProtos"));
  EXPECT_FALSE(std::filesystem::exists(dir_.path("raw.npz")));
}

TEST_F(ConvertTensorsTest, ReplacesADatabaseOnlyOnDemand) {
  WriteNpz(dir_.path("old.npz"), {{"old", Vector<float>({1})}});
  WriteNpz(dir_.path("new.npz"), {{"new", Vector<float>({2})}});
  for (const char* database : {"x.minidb", "x.leveldb", "x.lmdb"}) {
    ASSERT_EQ(Convert("old.npz", database).code, 0);
    const ProgramResult refused = Convert("new.npz", database);
    EXPECT_EQ(refused.code, 1);
    EXPECT_THAT(refused.err, HasSubstr("it exists; --overwrite replaces a database"));
    ASSERT_EQ(Convert(database, "is.npz").code, 0);
    EXPECT_EQ(ReadNpz(dir_.path("is.npz"))[0].first, "old");
    ASSERT_EQ(Convert("new.npz", database, {"--overwrite"}).code, 0) << database;
    ASSERT_EQ(Convert(database, "is.npz").code, 0);
    EXPECT_EQ(ReadNpz(dir_.path("is.npz"))[0].first, "new");
  }
  dir_.Write("folder/mine", "text");
  EXPECT_EQ(Convert("new.npz", "folder", {"--to", "lmdb", "--overwrite"}).code, 1);
  EXPECT_EQ(ReadWholeFile(dir_.path("folder/mine")), "text");
}

TEST_F(ConvertTensorsTest, LeavesTheTargetIfItCannotHoldTheTensors) {
  WriteNpz(dir_.path("two.npz"), {{"a", Vector<float>({1})}, {"b", Vector<float>({2})}});
  dir_.Write("target.npy", "old");
  const ProgramResult result = Convert("two.npz", "target.npy");
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, HasSubstr("holds one tensor, got \"a\" and \"b\"; want .npz"));
  EXPECT_EQ(ReadWholeFile(dir_.path("target.npy")), "old");
}

TEST_F(ConvertTensorsTest, ReportsAnIncompleteTensor) {
  {
    BlobProto blob;
    blob.set_name("w");
    blob.set_type("Tensor");
    blob.mutable_tensor()->add_dims(4);
    blob.mutable_tensor()->set_data_type(TensorProto::FLOAT);
    blob.mutable_tensor()->mutable_segment()->set_begin(0);
    blob.mutable_tensor()->mutable_segment()->set_end(1);
    blob.mutable_tensor()->add_float_data(1);
    const auto database = db::CreateDB("minidb", dir_.path("part.minidb"), db::NEW);
    const auto transaction = database->NewTransaction();
    transaction->Put("w#%0", blob.SerializeAsString());
    transaction->Commit();
  }
  const ProgramResult result = Convert("part.minidb", "part.npz");
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, HasSubstr("elements of tensor \"w\""));
  EXPECT_FALSE(std::filesystem::exists(dir_.path("part.npz")));
}

TEST_F(ConvertTensorsTest, ConvertsTensorProtosBetweenTextAndBinaryAsOtherProtos) {
  dir_.Write("t.pbtxt", "dims: 1 data_type: FLOAT float_data: 2 name: \"t\"");
  ASSERT_EQ(Convert("t.pbtxt", "t.pb").code, 0);
  const ProgramResult text = RunCaffe2({"convert", dir_.path("t.pb")});
  EXPECT_THAT(text.out, HasSubstr("float_data: 2"));
  ASSERT_EQ(Convert("t.pbtxt", "t.npy").code, 0);
  EXPECT_EQ(ReadNpy(dir_.path("t.npy")).data<float>()[0], 2);
}

// By the name of the output or by the option.
TEST_F(ConvertTensorsTest, ProtosOfEachKindAreConvertedToEachFormat) {
  const std::string tensor = "dims: 2 data_type: FLOAT float_data: [3, 4] name: \"t\"";
  dir_.Write("TensorProto.pbtxt", tensor);
  dir_.Write("TensorProtos.pbtxt", "protos { " + tensor + " }");
  dir_.Write("BlobProto.pbtxt",
             "name: \"t\" type: \"Tensor\" tensor { dims: 2 data_type: FLOAT float_data: [3, 4] }");
  for (const std::string kind : {"TensorProto", "TensorProtos", "BlobProto"}) {
    ASSERT_EQ(Convert(kind + ".pbtxt", kind + ".pb").code, 0);
    for (const std::string form : {"npy", "npz", "tensorprotos", "minidb", "leveldb", "lmdb"}) {
      for (const bool named : {true, false}) {
        SCOPED_TRACE(MakeString(kind, " ", form, " ", named));
        const std::string to = named ? "new." + form : "new";
        std::filesystem::remove_all(dir_.path(to));
        const ProgramResult result =
            named ? Convert(kind + ".pbtxt", to) : Convert(kind + ".pb", to, {"--to", form});
        ASSERT_EQ(result.code, 0) << result.err;
        ASSERT_EQ(Convert(to, "back.npz").code, 0);
        const NamedTensors back = ReadNpz(dir_.path("back.npz"));
        ASSERT_EQ(back.size(), 1u);
        EXPECT_EQ(back[0].first, form == "npy" ? "new" : "t");
        ASSERT_TRUE(back[0].second.IsType<float>());
        EXPECT_EQ(back[0].second.dims(), std::vector<int64_t>{2});
        EXPECT_EQ(back[0].second.data<float>()[0], 3);
        EXPECT_EQ(back[0].second.data<float>()[1], 4);
      }
    }
  }
}

TEST_F(ConvertTensorsTest, ReadsAFolderOfNpyFiles) {
  std::filesystem::create_directory(dir_.path("folder"));
  WriteNpy(dir_.path("folder/b.npy"), Vector<float>({2}));
  WriteNpy(dir_.path("folder/a.npy"), Vector<float>({1}));
  ASSERT_EQ(Convert("folder", "both.npz").code, 0);
  const NamedTensors tensors = ReadNpz(dir_.path("both.npz"));
  ASSERT_EQ(tensors.size(), 2u);
  EXPECT_EQ(tensors[0].first + tensors[1].first, "ab");
  std::filesystem::create_symlink("absent", dir_.path("folder/c.npy"));
  const ProgramResult dangling = Convert("folder", "three.npz");
  EXPECT_EQ(dangling.code, 1);
  EXPECT_THAT(dangling.err, HasSubstr("folder/c.npy\": No such file"));
}

TEST_F(ConvertTensorsTest, TheFormatOfAnOptionGoesBeforeThatOfAName) {
  WriteNpy(dir_.path("a.npy"), Vector<float>({1}));
  EXPECT_EQ(Convert("a.npy", "named.npy", {"--to", "npz"}).code, 0);
  EXPECT_EQ(ReadNpz(dir_.path("named.npy")).size(), 1u);
}

// What --to states, or else the name.
TEST_F(ConvertTensorsTest, TensorsAreWrittenAsTextOrBinary) {
  WriteNpy(dir_.path("a.npy"), Vector<float>({1, 2.5f}));
  std::string text, binary;
  const struct {
    const char *name, *to;
    bool is_text;
  } rows[] = {{"a.pb", "", false},           {"a.pbtxt", "", true},
              {"a.prototxt", "", true},      {"a.txt", "", true},
              {"b.txt", "binary", false},    {"b.pb", "binary", false},
              {"b.pbtxt", "text", true},     {"c.pb", "text", true},
              {"c.pbtxt", "binary", false},  {"c.pbtxt", "tensorprotos", false},
              {"d.npz", "text", true},       {"d.npz", "binary", false},
              {"e.tensorprotos", "", false}, {"e.tensorprotos", "text", true},
              {"f", "text", true},           {"f", "binary", false}};
  for (const auto& row : rows) {
    SCOPED_TRACE(std::string(row.name) + " " + row.to);
    std::vector<std::string> more;
    if (*row.to != 0) more = {"--to", row.to};
    const ProgramResult result = Convert("a.npy", row.name, more);
    ASSERT_EQ(result.code, 0) << result.err;
    const std::string content = ReadWholeFile(dir_.path(row.name));
    EXPECT_EQ(content.find("float_data: 2.5") != std::string::npos, row.is_text);
    std::string& same = row.is_text ? text : binary;
    if (same.empty()) same = content;
    EXPECT_EQ(content, same);
  }
}

TEST_F(ConvertTensorsTest, RejectsAWrongCommandLine) {
  WriteNpy(dir_.path("a.npy"), Vector<float>({1}));
  EXPECT_EQ(RunCaffe2({"convert", dir_.path("a.npy")}).code, 2);
  EXPECT_EQ(Convert("a.npy", "unknown").code, 2);
  EXPECT_EQ(Convert("a.npy", "anpz").code, 2);  // the end of the name is not ".npz"
  EXPECT_EQ(Convert("a.npy", "b.npz", {"--to", "nzp"}).code, 2);
  EXPECT_EQ(Convert("a.npy", "b.npz", {dir_.path("a.npy")}).code, 2);
  EXPECT_EQ(RunCaffe2({"convert", DemoFile("predict_net.pb"), "--to", "npz", "--output",
                       dir_.path("x.npz")})
                .code,
            1);
}

}  // namespace
}  // namespace caffe2rt::test::convert_tensors_test
