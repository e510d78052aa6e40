// Damaged files of every kind cause an error or a normal read, never a crash or a hang.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <random>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/blob_serialization.h"
#include "caffe2_core/io/db.h"
#include "caffe2_core/io/file_kind.h"
#include "caffe2_core/io/image.h"
#include "caffe2_core/io/net_weights.h"
#include "caffe2_core/io/npy.h"
#include "caffe2_core/io/pack_file.h"
#include "caffe2_core/io/proto_file.h"
#include "caffe2_core/io/tensor_file.h"
#include "tests/support/held_files.h"
#include "tests/support/operator_test.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::corruption_test {
namespace {

using test::TempDir;

// Changes a few bytes, or cuts off the end.
std::string Damage(std::string bytes, std::mt19937* random) {
  const auto below = [&](size_t n) { return static_cast<size_t>((*random)() % n); };
  if (below(4) == 0) bytes.resize(below(bytes.size()));
  for (size_t i = below(8); i > 0 && !bytes.empty(); --i) {
    // Half of the changes are made near the beginning, where the headers are.
    const size_t at =
        below(2) == 0 ? below(std::min<size_t>(bytes.size(), 256)) : below(bytes.size());
    const unsigned char odd[] = {0, 0xff, 0x7f, 0x80, 1};
    bytes[at] = static_cast<char>(below(2) == 0 ? odd[below(5)] : below(256));
  }
  return bytes;
}

template <class Function>
void Survive(Function read) {
  try {
    read();
  } catch (const EnforceNotMet&) {
  }
}

void ReadDatabase(const std::string& type, const std::string& path) {
  const auto database = db::CreateDB(type, path, db::READ);
  const auto cursor = database->NewCursor();
  for (; cursor->Valid(); cursor->Next()) {
    Blob blob;
    const std::string record = cursor->value();
    Survive([&] { DeserializeBlob(record, &blob); });
  }
  if (!cursor->SupportsSeek()) return;
  cursor->Seek("b07");
}

std::string SmallRecord(int i) {
  Blob blob;
  Tensor* tensor = BlobGetMutableTensor(&blob, CPU);
  tensor->Resize(i % 40 == 0 ? 3000 : 2, 3);
  float* data = tensor->mutable_data<float>();
  for (int64_t j = 0; j < tensor->numel(); ++j) data[j] = static_cast<float>(j);
  return blob.Serialize("b");
}

void WriteDatabase(const std::string& type, const std::string& path) {
  const auto database = db::CreateDB(type, path, db::NEW);
  const auto transaction = database->NewTransaction();
  for (int i = 0; i < 200; ++i) transaction->Put(MakeString("b", 100 + i), SmallRecord(i));
  transaction->Commit();
}

// Writes to the file itself, unlike WriteFileAtomically.
void Overwrite(const std::string& path, const std::string& bytes) {
  std::FILE* const out = std::fopen(path.c_str(), "wb");
  std::fwrite(bytes.data(), 1, bytes.size(), out);
  std::fclose(out);
}

// Returns the files of a database, or the file.
std::vector<std::string> FilesOf(const std::string& path) {
  if (!std::filesystem::is_directory(path)) return {path};
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(path)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

class CorruptionTest : public testing::TestWithParam<const char*> {};

TEST_P(CorruptionTest, DatabasesEndInAnErrorOrARead) {
  const std::string type = GetParam();
  const TempDir dir;
  WriteDatabase(type, dir.path("db"));
  const std::vector<std::string> files = FilesOf(dir.path("db"));
  std::mt19937 random(7);
  for (int run = 0; run < 300; ++run) {
    const std::string& file = files[random() % files.size()];
    const std::string bytes = ReadWholeFile(file);
    if (bytes.empty()) continue;
    Overwrite(file, Damage(bytes, &random));
    Survive([&] { ReadDatabase(type, dir.path("db")); });
    DetectFileKind(dir.path("db"));
    Overwrite(file, bytes);
  }
}

INSTANTIATE_TEST_SUITE_P(Types, CorruptionTest, testing::Values("minidb", "leveldb", "lmdb"));

// Writes one file of each kind into the folder. Returns their names.
std::vector<std::string> WriteEveryKind(const TempDir& dir) {
  Tensor tensor(CPU);
  tensor.Resize(3, 4);
  std::fill_n(tensor.mutable_data<float>(), 12, 1.f);
  WriteNpy(dir.path("a.npy"), tensor);
  WriteNpz(dir.path("a.npz"), {{"x", tensor}, {"y", tensor}});
  const Image image{.width = 5, .height = 4, .rgb = std::vector<uint8_t>(60, 100)};
  SavePng(dir.path("a.png"), image);
  SaveJpeg(dir.path("a.jpg"), image);
  const NetDef net = test::ParseNet(R"(op { type: "GivenTensorFill" output: "w"
      arg { name: "shape" ints: 3 } arg { name: "values" floats: [1, 2, 3] } })");
  dir.Write("net.pb", ProtoToBinary(net));
  dir.Write("net.pbtxt", ProtoToText(net));
  PackWriter writer(dir.path("a.c2pack"));
  PackedIndex index;
  PackedTensor* const flags = index.add_tensor();
  flags->set_name("flags");
  flags->set_data_type(TensorProto::BOOL);
  flags->add_dims(100);
  *flags->mutable_block() = writer.Add(std::string(100, '\1').data(), 100);
  *index.mutable_predict_net() = net;
  writer.Finish(index);
  std::vector<std::string> names = {"a.npy",  "a.npz",     "a.png",   "a.jpg",
                                    "net.pb", "net.pbtxt", "a.c2pack"};
  TensorProtos tensors;
  TensorProto* const proto = tensors.add_protos();
  proto->set_name("x");
  proto->add_dims(2);
  proto->add_float_data(1);
  proto->add_float_data(2);
  dir.Write("protodb", ProtoToBinary(tensors));
  names.push_back("protodb");
  for (const char* type : {"minidb", "leveldb", "lmdb"}) {
    WriteDatabase(type, dir.path(type));
    names.push_back(type);
  }
  return names;
}

// Gives the path to every reader of files, whatever is in the file.
void ReadInEveryWay(const std::string& path) {
  NetDef net;
  Survive([&] { DetectFileKind(path); });
  Survive([&] { ReadWholeFile(path); });
  Survive([&] { ReadNpy(path); });
  Survive([&] { ReadNpz(path); });
  Survive([&] { LoadNamedTensors(path); });
  Survive([&] { LoadImage(path); });
  Survive([&] { LoadProto(path, &net); });
  Survive([&] { ReadNetWithWeights(path); });
  Survive([&] { PackFile::Open(path)->Verify(); });
  for (const char* type : {"minidb", "leveldb", "lmdb", "protodb"}) {
    Survive([&] { ReadDatabase(type, path); });
  }
}

TEST(CorruptionTest, ReadersHoldNoFileAfterAnError) {
  const TempDir dir;
  std::mt19937 random(3);
  for (const std::string& name : WriteEveryKind(dir)) {
    SCOPED_TRACE(name);
    for (int run = 0; run < 12; ++run) {
      const std::vector<std::string> files = FilesOf(dir.path(name));
      const std::string& file = files[random() % files.size()];
      const std::string bytes = ReadWholeFile(file);
      // The first run reads the file as it is.
      if (run > 0 && !bytes.empty()) Overwrite(file, Damage(bytes, &random));
      ReadInEveryWay(dir.path(name));
      ASSERT_THAT(test::HeldFiles(dir.path()), testing::IsEmpty()) << "run " << run;
      Overwrite(file, bytes);
    }
    ReadInEveryWay(dir.path(name + ".absent"));
  }
  ReadInEveryWay(dir.path());
  EXPECT_THAT(test::HeldFiles(dir.path()), testing::IsEmpty());
}

TEST(CorruptionTest, LmdbIsCheckedBeforeItIsWritten) {
  const TempDir dir;
  WriteDatabase("lmdb", dir.path("db"));
  {  // creates free pages
    const auto database = db::CreateDB("lmdb", dir.path("db"), db::WRITE);
    const auto transaction = database->NewTransaction();
    for (int i = 0; i < 50; ++i) transaction->Put(MakeString("b", 100 + i), "x");
    transaction->Commit();
  }
  const std::string bytes = ReadWholeFile(dir.path("db/data.mdb"));
  std::mt19937 random(11);
  for (int run = 0; run < 200; ++run) {
    WriteFileAtomically(dir.path("db/data.mdb"), Damage(bytes, &random));
    Survive([&] {
      const auto database = db::CreateDB("lmdb", dir.path("db"), db::WRITE);
      database->NewTransaction()->Put("new", "value");
    });
  }
}

TEST(CorruptionTest, ArraysAndMessagesEndInAnErrorOrARead) {
  Tensor tensor(CPU);
  tensor.Resize(3, 4);
  std::fill_n(tensor.mutable_data<float>(), 12, 1.f);
  const std::string npy = NpyBytes(tensor);
  NetDef net;
  for (int i = 0; i < 10; ++i) {
    OperatorDef* op = net.add_op();
    op->set_type("GivenTensorFill");
    op->add_output(MakeString("w", i));
    Argument* arg = op->add_arg();
    arg->set_name("values");
    arg->add_floats(1);
  }
  const std::string binary = ProtoToBinary(net), text = ProtoToText(net);
  std::mt19937 random(5);
  for (int run = 0; run < 2000; ++run) {
    Survive([&] { ParseNpy(Damage(npy, &random), "npy"); });
    for (const std::string* bytes : {&binary, &text}) {
      const std::string damaged = Damage(*bytes, &random);
      DetectContentKind(damaged, static_cast<int64_t>(damaged.size()));
      Survive([&] { ParseProto(damaged, "net", &net); });
    }
  }
}

}  // namespace
}  // namespace caffe2rt::corruption_test
