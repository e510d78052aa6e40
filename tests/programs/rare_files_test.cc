// Files that are rare: databases with blobs that are no tensors, predictors whose nets are not the first record, and
// lists of images beside other options; comparisons of what `caffe2 run` has computed in the same way.
#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/blob_serialization.h"
#include "caffe2_core/io/db.h"
#include "caffe2_core/io/image.h"
#include "caffe2rt/metanet.pb.h"
#include "tests/programs/program_folder.h"
#include "tests/support/json.h"

namespace caffe2rt::test::rare_files_test {
namespace {

using ::testing::HasSubstr;
using namespace std::string_literals;
namespace fs = std::filesystem;

class RareFilesTest : public ProgramFolder {
 protected:
  // Writes a database of blobs in this order.
  void WriteBlobs(const std::string& name,
                  const std::vector<std::pair<std::string, const Blob*>>& blobs,
                  const std::string& type = "minidb") const {
    fs::remove_all(dir_.path(name));
    const std::unique_ptr<db::DB> database = db::OpenDB(type, dir_.path(name), db::NEW);
    const std::unique_ptr<db::Transaction> transaction = database->NewTransaction();
    for (const auto& [key, blob] : blobs) transaction->Put(key, SerializeBlob(*blob, key));
    transaction->Commit();
  }
  static void FillFloats(Blob* blob, const std::vector<int64_t>& dims, float value) {
    Tensor* const tensor = blob->GetMutableTensor(CPU);
    tensor->Resize(dims);
    std::fill_n(tensor->mutable_data<float>(), tensor->numel(), value);
  }
};

// --- check and inspect ---

// A counter is stored as a tensor of its number.
TEST_F(RareFilesTest, CountersAndTextsOfADatabaseAreNoTensors) {
  dir_.Write("save.pbtxt", R"(name: "s" network { name: "n"
      op { type: "CreateCounter" output: "c" arg { name: "init_count" i: 3 } }
      op { type: "ConstantFill" output: "w" arg { name: "shape" ints: [2, 3] } }
      op { type: "Save" input: ["c", "w"] arg { name: "db" s: "c.minidb" }
           arg { name: "db_type" s: "minidb" } } } execution_step { network: "n" })");
  Out({"plan", "DIR/save.pbtxt", "--root", "DIR/"});
  dir_.Write("init.pbtxt", R"(name: "i" op { type: "Load" output: ["c", "w"]
      arg { name: "db" s: "c.minidb" } arg { name: "db_type" s: "minidb" } })");
  dir_.Write("net.pbtxt", R"(name: "n" external_input: ["c", "w"] external_output: ["d", "v"]
      op { type: "CountDown" input: "c" output: "d" } op { type: "Abs" input: "w" output: "v" })");
  const Words nets = {"DIR/net.pbtxt", "--init-net", "DIR/init.pbtxt"};
  EXPECT_EQ(Out(Joined({"check"}, nets)),
            "DIR/init.pbtxt: net \"i\": fine\nDIR/net.pbtxt: net \"n\": fine\n");
  EXPECT_THAT(Out(Joined({"inspect"}, nets)), HasSubstr("\ntotal: 6 parameters (24 B), "));
  EXPECT_THAT(Out({"run", "--predict-net", "DIR/net.pbtxt", "--init-net", "DIR/init.pbtxt"}),
              HasSubstr("d  bool []\n  0\n"));
  // A text has neither a shape nor elements.
  Blob text, matrix;
  *text.GetMutable<std::string>() = "some text";
  FillFloats(&matrix, {2, 3}, 1);
  WriteBlobs("c.minidb", {{"c", &text}, {"w", &matrix}});
  EXPECT_THAT(Out(Joined({"inspect"}, nets)), HasSubstr("\ntotal: 6 parameters (24 B), "));
  dir_.Write("net.pbtxt", R"(name: "n" external_input: ["c", "w"] external_output: "y"
      op { type: "FC" input: ["w", "c", "c"] output: "y" })");
  EXPECT_EQ(Out(Joined({"check"}, nets)),
            "DIR/init.pbtxt: net \"i\": fine\nDIR/net.pbtxt: net \"n\": fine\n")
      << "its shape is not known";
  // A tensor of this shape does not fit.
  FillFloats(&text, {}, 1);
  WriteBlobs("c.minidb", {{"c", &text}, {"w", &matrix}});
  EXPECT_EQ(Run(Joined({"check"}, nets)).code, 1);
}

// Each init net may open what is beside it, wherever the others are.
TEST_F(RareFilesTest, EveryInitNetReachesItsFolder) {
  std::string inputs, sum;
  Words nets = {"--predict-net", "DIR/net/net.pbtxt"};
  for (const std::string name : {"a", "b", "c"}) {
    Blob blob;
    FillFloats(&blob, {1}, static_cast<float>(name[0] - 'a' + 1));
    fs::create_directories(dir_.path(name));
    WriteBlobs(name + "/w.minidb", {{name, &blob}});
    dir_.Write(name + "/init.pbtxt", "name: \"" + name + "\" op { type: \"Load\" output: \"" +
                                         name + "\" arg { name: \"db\" s: \"w.minidb\" } arg { " +
                                         "name: \"db_type\" s: \"minidb\" } }");
    inputs += "external_input: \"" + name + "\" ";
    sum += "input: \"" + name + "\" ";
    nets = Joined(nets, {"--init-net", "DIR/" + name + "/init.pbtxt"});
  }
  dir_.Write("net/net.pbtxt", "name: \"n\" " + inputs +
                                  "external_output: \"y\" op { type: \"Sum\" " + sum +
                                  "output: \"y\" }");
  EXPECT_THAT(Out(Joined({"run"}, nets)), HasSubstr("y  float [1]\n  6\n"));
  Words check = {"check", "DIR/net/net.pbtxt"};
  check.insert(check.end(), nets.begin() + 2, nets.end());
  const std::string checked = Out(check);
  for (const std::string name : {"a", "b", "c"})
    EXPECT_THAT(checked, HasSubstr("net \"" + name + "\": fine\n"));
}

// Programs of Caffe2 have written tensors with the names of their devices, or without a type.
TEST_F(RareFilesTest, TensorsOfADatabaseHaveShapesWhateverTheirDevice) {
  dir_.Write("init.pbtxt", R"(name: "i" op { type: "Load" output: "w"
      arg { name: "db" s: "w.minidb" } arg { name: "db_type" s: "minidb" } })");
  dir_.Write("net.pbtxt", R"(name: "n" external_input: "w" external_output: "y"
      op { type: "Abs" input: "w" output: "y" })");
  const Words inspect = {"inspect", "DIR/net.pbtxt", "--init-net", "DIR/init.pbtxt"};
  for (const auto& [type, has_shape] : {std::pair("Tensor", true),
                                        {"TensorCPU", true},
                                        {"TensorCUDA", true},
                                        {"Int8TensorCPU", true},
                                        {"", true},
                                        {"std::string", false},
                                        {"Tensors", false}}) {
    Blob matrix;
    FillFloats(&matrix, {2, 3}, 1);
    BlobProto blob;
    ASSERT_TRUE(blob.ParseFromString(SerializeBlob(matrix, "w")));
    blob.set_type(type);
    if (blob.type().empty()) blob.clear_type();
    fs::remove(dir_.path("w.minidb"));
    {
      const auto database = db::OpenDB("minidb", dir_.path("w.minidb"), db::NEW);
      database->NewTransaction()->Put("w", blob.SerializeAsString());
    }
    const std::string text = Out(inspect);
    EXPECT_EQ(text.find("\ntotal: 6 parameters (24 B), ") != std::string::npos, has_shape)
        << type << text;
    EXPECT_EQ(text.find("float [2, 3]") != std::string::npos, has_shape) << type << text;
  }
}

template <class T>
Tensor StoredTensor(const std::vector<int64_t>& dims) {
  Tensor tensor(dims, CPU);
  std::fill_n(tensor.mutable_data<T>(), tensor.numel(), T(1));
  return tensor;
}

// Weights are known before the net runs, in a database and in a packed model.
TEST_F(RareFilesTest, StoredTensorsHaveTheirTypesAndDims) {
  const struct {
    Tensor tensor;
    const char* shape;
  } rows[] = {{StoredTensor<float>({}), R"({"type":"FLOAT","dims":[]})"},
              {StoredTensor<float>({1}), R"({"type":"FLOAT","dims":[1]})"},
              {StoredTensor<double>({7}), R"({"type":"DOUBLE","dims":[7]})"},
              {StoredTensor<int32_t>({2, 3}), R"({"type":"INT32","dims":[2,3]})"},
              {StoredTensor<int64_t>({4, 1, 2}), R"({"type":"INT64","dims":[4,1,2]})"},
              {StoredTensor<uint8_t>({2, 0, 3}), R"({"type":"UINT8","dims":[2,0,3]})"},
              {StoredTensor<bool>({1, 2, 3, 4}), R"({"type":"BOOL","dims":[1,2,3,4]})"},
              {StoredTensor<float>({1, 1, 2, 1, 3}), R"({"type":"FLOAT","dims":[1,1,2,1,3]})"}};
  dir_.Write("init.pbtxt", R"(name: "i" op { type: "Load" output: "w"
      arg { name: "db" s: "w.minidb" } arg { name: "db_type" s: "minidb" } })");
  dir_.Write("net.pbtxt", R"(name: "n" external_input: "w" external_output: "y"
      op { type: "Copy" input: "w" output: "y" })");
  for (const auto& row : rows) {
    dir_.Write("w.npy", "");
    WriteNpy(dir_.path("w.npy"), row.tensor);
    for (const char* written : {"w.minidb", "p.c2"}) fs::remove(dir_.path(written));
    Out({"convert", "DIR/w.npy", "--output", "DIR/w.minidb"});
    Out({"pack", "--predict-net", "DIR/net.pbtxt", "--init-net", "DIR/init.pbtxt", "DIR/p.c2"});
    for (const Words& net :
         {Words{"DIR/net.pbtxt", "--init-net", "DIR/init.pbtxt"}, Words{"DIR/p.c2"}}) {
      const std::string json = Out(Joined({"inspect", "--json"}, net));
      EXPECT_EQ(JsonAt(json, "/nets/0/operators/0/output_shapes"), "["s + row.shape + "]")
          << net[0];
    }
  }
}

constexpr char kMeta[] = R"(
    nets { key: "PREDICT_NET_TYPE" value { name: "p" external_input: ["x", "w"]
           external_output: "y" op { type: "Mul" input: ["x", "w"] output: "y" } } }
    nets { key: "GLOBAL_INIT_NET_TYPE" value { name: "g" external_input: "!!PREDICTOR_DBREADER"
           op { type: "Load" input: "!!PREDICTOR_DBREADER" output: "w" } } }
    blobs { key: "INPUTS_BLOB_TYPE" value: "x" } blobs { key: "OUTPUTS_BLOB_TYPE" value: "y" }
    blobs { key: "PARAMETERS_BLOB_TYPE" value: "w" })";

// The nets of a predictor may stand behind its weights.
TEST_F(RareFilesTest, APredictorIsKnownByAnyOfItsRecordsInEachDatabase) {
  MetaNetDef meta;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(kMeta, &meta));
  Blob nets, w, more;
  *nets.GetMutable<std::string>() = meta.SerializeAsString();
  FillFloats(&w, {2}, 3);
  FillFloats(&more, {1}, 3);
  const std::pair<std::string, const Blob*> first = {"!!META_NET_DEF", &nets};
  for (const auto& records : {std::vector{first, {"w", &w}, {"more", &more}},
                              {{"w", &w}, first, {"more", &more}},
                              {{"more", &more}, {"w", &w}, first}}) {
    for (const char* type : {"minidb", "leveldb", "lmdb"}) {
      const std::string path = "DIR/p."s + type;
      WriteBlobs("p."s + type, records, type);
      EXPECT_THAT(Out({"check", path, "--input", "x=2"}),
                  HasSubstr(path + ": PREDICT_NET_TYPE: net \"p\": fine\n"));
      EXPECT_THAT(Out({"inspect", path, "--input", "x=2"}), HasSubstr("Mul"));
      EXPECT_THAT(Out({"run", "--predictor", path, "--input", "x=[5,7]"}),
                  HasSubstr("\n  15 21\n"));
      EXPECT_EQ(JsonAt(Out({"compare", path, path, "--input", "x=2", "--json"}), "/within"),
                "true");
    }
  }
  // Without nets it is a database of tensors.
  WriteBlobs("p.minidb", {{"w", &w}, {"!META_NET_DEF", &more}, {"my!!META_NET_DEF", &nets}});
  const ProgramResult check = Run({"check", "DIR/p.minidb"});
  EXPECT_EQ(check.code, 1);
  EXPECT_THAT(check.err, HasSubstr("\"DIR/p.minidb\" is a minidb database, want a NetDef"));
}

// --- compare ---

TEST_F(RareFilesTest, FilesAreComparedWithoutOptionsOfNets) {
  const std::string a = Array("a.npy", {1}, {1});
  const std::string message =
      "caffe2: --input, --image and --init-net are given, but \"" + a + "\" is not a net\n";
  for (const char* option : {"input", "image", "image-list", "init-net"}) {
    const ProgramResult result = Run({"compare", a, a, "--"s + option, "x=1"});
    EXPECT_EQ(result.code, 2) << option;
    EXPECT_EQ(result.err, message) << option;
    EXPECT_EQ(result.out, "");
  }
  for (const char* option : {"report", "optimize"}) {
    const ProgramResult result = Run({"compare", a, a, "--"s + option, "DIR/both"});
    EXPECT_EQ(result.code, 2) << option;
    EXPECT_EQ(result.err,
              "caffe2: option --"s + option + " is given, but \"" + a + "\" is not a net\n");
  }
  EXPECT_EQ(Run({"compare", a, a}).code, 0);
}

// The sums of the matrix have an order of their own if they must be the same on all machines, as in int8.
TEST_F(RareFilesTest, BytesOfARunAreThoseOfItsComparison) {
  const std::string net = R"( external_input: ["x", "w"] external_output: "y"
      op { type: "MatMul" input: ["x", "w"] output: "y" })";
  dir_.Write("plain.pbtxt", "name: \"n\"" + net);
  dir_.Write("int8.pbtxt", R"(name: "n" arg { name: "snr_int8" f: 60 })" + net);
  const Words inputs = {"--input", "x=7,1000", "--input", "w=1000,33"};
  for (const char* name : {"plain", "int8"}) {
    for (const char* precision : {"int8", "auto"}) {
      SCOPED_TRACE(name + " "s + precision);
      const std::string file = "DIR/"s + name + ".pbtxt";
      const Words options = Joined(inputs, {"--deterministic", "--precision", precision});
      EXPECT_EQ(Run(Joined({"run", "--predict-net", file, "--output", "DIR/y.npz"}, options)).code,
                0);
      const ProgramResult same =
          Run(Joined({"compare", file, "DIR/y.npz", "--tol", "0", "--optimize", "first"}, options));
      EXPECT_EQ(same.code, 0) << same.out;
      const ProgramResult both =
          Run(Joined({"compare", file, file, "--tol", "0", "--optimize", "both"}, options));
      EXPECT_EQ(both.code, 0) << both.out;
    }
  }
}

// --- images of a database ---

class ListedImagesTest : public RareFilesTest {
 protected:
  void SetUp() override {
    for (const char* name : {"pets/cat/a.png", "pets/cat/b.png", "pets/dog/c.png"}) {
      dir_.Write(name, "");
      SavePng(dir_.path(name), {.width = 1, .height = 1, .rgb = {1, 2, 3}});
    }
    dir_.Write("list", "dog/c.png 5\ncat/a.png 3\ncat/b.png 9\n");
  }
  // The labels of the records, after the number of them that is printed.
  std::string Make(const Words& more) const {
    fs::remove(dir_.path("i.minidb"));
    const std::string out =
        Out(Joined({"db", "make", "images", "DIR/pets", "--output", "DIR/i.minidb"}, more));
    std::string labels = out.substr(out.find(": ") + 2, 2);
    const std::string lines = Out({"db", "list", "DIR/i.minidb", "--json"});
    for (size_t begin = 0, end = 0; begin < lines.size(); begin = end + 1) {
      end = lines.find('\n', begin);
      labels += JsonAt(lines.substr(begin, end - begin), "/label") + " ";
    }
    return labels;
  }
};

TEST_F(ListedImagesTest, AListHasItsOwnOrderLabelsAndLimit) {
  EXPECT_EQ(Make({"--list", "DIR/list"}), "3 5 3 9 ");
  EXPECT_EQ(Make({"--list", "DIR/list", "--limit", "2"}), "2 5 3 ");
  EXPECT_EQ(Make({"--list", "DIR/list", "--limit", "1", "--raw", "--size", "0"}), "1 5 ");
  EXPECT_EQ(Make({"--list", "DIR/list", "--limit", "3"}), "3 5 3 9 ");
  EXPECT_EQ(Make({"--list", "DIR/list", "--limit", "0"}), "3 5 3 9 ");
  // Shuffled, the same files have the same labels.
  const std::string shuffled = Make({"--list", "DIR/list", "--shuffle", "--seed", "5"});
  EXPECT_EQ(Make({"--list", "DIR/list", "--shuffle", "--seed", "5"}), shuffled);
  bool moves = false;
  for (int seed = 0; seed < 20; ++seed)
    moves |=
        Make({"--list", "DIR/list", "--shuffle", "--seed", std::to_string(seed)}) != "3 5 3 9 ";
  EXPECT_TRUE(moves);
  EXPECT_EQ(Make({"--list", "DIR/list", "--shuffle", "--seed", "5", "--limit", "2"}),
            "2" + shuffled.substr(1, 5));
}

// Numbers of a list have no names.
TEST_F(ListedImagesTest, NamesOfClassesAreThoseOfFolders) {
  EXPECT_EQ(Make({}), "3 0 0 1 ");
  EXPECT_EQ(ReadWholeFile(dir_.path("i.minidb.labels.txt")), "cat\ndog\n");
  EXPECT_EQ(Make({"--limit", "1"}), "1 0 ");
  EXPECT_EQ(ReadWholeFile(dir_.path("i.minidb.labels.txt")), "cat\ndog\n") << "all classes";
  fs::remove(dir_.path("i.minidb.labels.txt"));
  Make({"--list", "DIR/list"});
  EXPECT_FALSE(fs::exists(dir_.path("i.minidb.labels.txt")));
}

}  // namespace
}  // namespace caffe2rt::test::rare_files_test
