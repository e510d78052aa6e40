// Rare forms of files and of their contents: lists that become databases, logs with fragments, kinds
// that hang on one byte, limits that are met exactly.
#include <gtest/gtest.h>
#include <sys/prctl.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/blob_serialization.h"
#include "caffe2_core/io/db.h"
#include "caffe2_core/io/file_kind.h"
#include "caffe2_core/io/image.h"
#include "caffe2_core/io/image_orientation.h"
#include "caffe2_core/io/leveldb_log.h"
#include "caffe2_core/io/net_weights.h"
#include "caffe2_core/io/npy.h"
#include "caffe2_core/io/proto_file.h"
#include "caffe2_core/io/random_access_input.h"
#include "caffe2_core/io/record_checksum.h"
#include "caffe2_core/io/tensor_file.h"
#include "tests/caffe2_core/io/records.h"
#include "tests/caffe2_core/io/wire_writer.h"
#include "tests/support/operator_test.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::rare_forms_test {
namespace {

using namespace std::string_literals;

std::string Little(uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i) & 255);
  return text;
}
template <class Message>
std::string Packed(const std::string& text) {
  Message message;
  ParseTextProto(text, "test", &message);
  return message.SerializePartialAsString();
}

// --- TensorProtos that become databases.

TEST(ListsAsDatabasesTest, EachTensorBecomesABlobOfItsName) {
  const TempDir dir;
  const std::string list = dir.Write(
      "list.pb",
      Packed<TensorProtos>("protos { name: 'x' dims: 2 data_type: FLOAT float_data: [1, 2] } "
                           "protos { name: 'a' dims: 1 data_type: INT64 int64_data: 7 }"));
  const struct {
    TensorFormat format;
    const char* type;
  } rows[] = {{TensorFormat::kMiniDB, "minidb"},
              {TensorFormat::kLevelDB, "leveldb"},
              {TensorFormat::kLMDB, "lmdb"}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.type);
    const std::string to = dir.path(row.type);
    ConvertTensorFile(list, FileKind::kTensorProtos, ProtoKindCheck::kByContent,
                      {.path = to, .format = row.format});
    const Records records = GetAll(row.type, to);
    ASSERT_EQ(records.size(), 2u);
    BlobProto x, a;
    ASSERT_TRUE(x.ParseFromString(records.at("x#%0")));
    ASSERT_TRUE(a.ParseFromString(records.at("a#%0")));
    EXPECT_EQ(x.type(), "Tensor");
    EXPECT_EQ(x.name(), "x");
    ASSERT_EQ(x.tensor().float_data_size(), 2);
    EXPECT_EQ(x.tensor().float_data(1), 2);
    EXPECT_EQ(a.tensor().data_type(), TensorProto::INT64);
    ASSERT_EQ(a.tensor().int64_data_size(), 1);
    EXPECT_EQ(a.tensor().int64_data(0), 7);
    EXPECT_EQ(LoadNamedTensors(to).size(), 2u);
  }
}

TEST(ListsAsDatabasesTest, SlashesAtTheEndOfAFileOfADatabaseAreDropped) {
  const TempDir dir;
  const std::string list = dir.Write(
      "list.pb",
      Packed<TensorProtos>("protos { name: 'x' dims: 1 data_type: FLOAT float_data: 1 }"));
  for (int run = 0; run < 2; ++run) {  // the second one replaces the first
    ConvertTensorFile(
        list, FileKind::kTensorProtos, ProtoKindCheck::kByContent,
        {.path = dir.path("d") + "//", .format = TensorFormat::kMiniDB, .overwrite = true});
    EXPECT_TRUE(std::filesystem::is_regular_file(dir.path("d")));
    EXPECT_EQ(GetAll("minidb", dir.path("d")).count("x#%0"), 1u);
  }
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(dir.path()), {}), 2);
}

TEST(ListsAsDatabasesTest, TensorsKeepTheirNamesAndOthersGetTheGivenOne) {
  const TempDir dir;
  const std::string list = dir.Write(
      "list.pb", Packed<TensorProtos>("protos { name: 'x' dims: 1 data_type: FLOAT float_data: 1 } "
                                      "protos { dims: 1 data_type: FLOAT float_data: 2 }"));
  for (const std::string name : {"", "given"}) {
    ConvertTensorFile(list, FileKind::kTensorProtos, ProtoKindCheck::kByContent,
                      {.path = dir.path("a.npz"),
                       .format = TensorFormat::kNpz,
                       .name = name,
                       .overwrite = false});
    const NamedTensors read = ReadNpz(dir.path("a.npz"));
    ASSERT_EQ(read.size(), 2u);
    EXPECT_EQ(read[0].first, "x");
    EXPECT_EQ(read[1].first, name.empty() ? "list" : "given");
  }
}

// Elements that are objects are records within the record, in their place in the tensor.
TEST(ListsAsDatabasesTest, ChunksOfObjectsComeBackInAnyOrder) {
  Blob blob, read;
  Tensor* const outer = blob.GetMutable<Tensor>();
  outer->Resize(5);
  Tensor* const elements = outer->mutable_data<Tensor>();
  for (int i = 0; i < 5; ++i) {
    elements[i] = Tensor(std::vector<int64_t>{i + 1}, CPU);
    std::fill_n(elements[i].mutable_data<float>(), i + 1, static_cast<float>(10 * i));
  }
  for (const int chunk : {1, 2, 3, 5}) {
    std::vector<std::string> records;
    SerializeBlob(
        blob, "x",
        [&](const std::string&, const std::string& record) { records.push_back(record); }, chunk);
    ASSERT_EQ(records.size(), static_cast<size_t>((5 + chunk - 1) / chunk));
    read.Reset();
    for (size_t i = records.size(); i-- > 0;) DeserializeBlob(records[i], &read);
    const Tensor& got = read.Get<Tensor>();
    ASSERT_EQ(got.numel(), 5);
    for (int i = 0; i < 5; ++i) {
      const Tensor& element = got.data<Tensor>()[i];
      ASSERT_EQ(element.numel(), i + 1) << chunk;
      EXPECT_EQ(element.data<float>()[i], 10 * i) << chunk;
    }
  }
}

// --- Kinds of files.

TEST(RareKindsTest, OnnxModelsOfEachVersionHaveAGraph) {
  // A graph has nodes in field 1, each with a name of bytes that no name of Caffe2 has.
  const std::string graph = "\x0a\x02\x01\x02";
  const auto kind_of = [&](uint64_t version, int field) {
    std::string bytes;
    AppendTag(1, 0, &bytes);
    AppendVarint(version, &bytes);
    AppendBytes(2, "exporter", &bytes);
    AppendBytes(field, graph, &bytes);
    return DetectContentKind(bytes, static_cast<int64_t>(bytes.size())).kind;
  };
  for (const uint64_t version : {1, 3, 9, 10, 11, 13, 999}) {
    EXPECT_EQ(kind_of(version, 7), FileKind::kOnnxModel) << version;
    EXPECT_EQ(kind_of(version, 8), FileKind::kOnnxModel) << version;
  }
  for (const uint64_t version : {1000, 1001, 100000}) {
    EXPECT_NE(kind_of(version, 7), FileKind::kOnnxModel) << version;
  }
  for (const int field : {3, 6, 9}) EXPECT_NE(kind_of(8, field), FileKind::kOnnxModel) << field;
}

// What follows a closing brace without its opening one is not judged.
TEST(RareKindsTest, TextEndsAtABraceThatClosesNothing) {
  const auto detect = [](const std::string& text) {
    return DetectContentKind(text, static_cast<int64_t>(text.size()));
  };
  for (const char brace : {'}', '>', ']'}) {
    const FileKindResult found = detect("name: 'n' "s + brace + " op { type: 'Relu' }");
    EXPECT_EQ(found.kind, FileKind::kNetDef) << brace;
    EXPECT_TRUE(found.weak) << brace;
    EXPECT_EQ(detect(brace + " op { type: 'Relu' }"s).kind, FileKind::kUnknown) << brace;
  }
  const FileKindResult closed = detect("arg { } op { type: 'Relu' }");
  EXPECT_EQ(closed.kind, FileKind::kNetDef);
  EXPECT_FALSE(closed.weak);
}

TEST(RareKindsTest, TextHasNoControlCharactersButThoseOfLayout) {
  for (int c = 0; c < 256; ++c) {
    const bool layout = c == '\n' || c == '\r' || c == '\t' || c == '\f' || c == '\v';
    EXPECT_EQ(LooksLikeText("a"s + static_cast<char>(c) + "b"), layout || (c >= 0x20 && c != 0x7f))
        << c;
  }
  EXPECT_TRUE(LooksLikeText(""));
  // The first 64 KiB decide.
  EXPECT_FALSE(LooksLikeText(std::string(65535, 'a') + '\0'));
  EXPECT_TRUE(LooksLikeText(std::string(65536, 'a') + '\0'));
}

TEST(RareKindsTest, NumbersOfAnEnumAreNotCutToTheirLowBits) {
  const auto kind_of = [](uint64_t data_type) {
    std::string bytes = "\x08\x01";  // dims: 1
    AppendTag(2, 0, &bytes);         // data_type
    AppendVarint(data_type, &bytes);
    return DetectContentKind(bytes, static_cast<int64_t>(bytes.size())).kind;
  };
  EXPECT_EQ(kind_of(1), FileKind::kTensorProto);
  EXPECT_NE(kind_of((uint64_t{1} << 32) + 1), FileKind::kTensorProto);
  EXPECT_NE(kind_of(UINT64_MAX), FileKind::kTensorProto);
  EXPECT_NE(kind_of(99), FileKind::kTensorProto);
}

// A database that cannot be opened as what it is has its own reason, however its type is spelled.
TEST(RareKindsTest, DamagedDatabasesAreNotCalledAnotherType) {
  const TempDir dir;
  dir.Write("level/CURRENT", "x");
  dir.Write("level/a", "y");
  dir.Write("lmdb/data.mdb", std::string(8192, 'x'));
  const std::pair<const char*, const char*> own[] = {
      {"leveldb", "level"}, {"LevelDB", "level"}, {"lmdb", "lmdb"}, {"LMDB", "lmdb"}};
  for (const auto& [type, name] : own) {
    SCOPED_TRACE(type);
    try {
      db::OpenDB(type, dir.path(name), db::READ);
      ADD_FAILURE() << "no exception";
    } catch (const EnforceNotMet& error) {
      EXPECT_EQ(error.message().find("want the type"), std::string::npos) << error.message();
    }
  }
  ExpectThrows([&] { db::OpenDB("LMDB", dir.path("level"), db::READ); },
               "as LMDB: it is a LevelDB database; want the type leveldb");
  ExpectThrows([&] { db::OpenDB("minidb", dir.path("lmdb"), db::READ); },
               "as minidb: it is an LMDB database; want the type lmdb");
  for (const db::Mode mode : {db::READ, db::WRITE}) {
    ExpectThrows([&] { db::OpenDB("MiniDB", dir.path("level"), mode); },
                 "as MiniDB: it is a LevelDB database; want the type leveldb");
  }
}

TEST(RareKindsTest, CaffesModelsEndWithAWholeField) {
  const auto kind_of = [](const std::string& end) {
    std::string layer, model;
    AppendBytes(2, "Convolution", &layer);
    AppendBytes(1, "net", &model);
    AppendBytes(100, layer, &model);
    model += end;
    return DetectContentKind(model, static_cast<int64_t>(model.size())).kind;
  };
  EXPECT_EQ(kind_of(""), FileKind::kCaffeModel);
  EXPECT_EQ(kind_of("\x1a\x01x"), FileKind::kCaffeModel);  // field 3
  for (const char* const cut : {"\x1a", "\x1a\x02x", "\x18", "\x1f"}) {
    EXPECT_NE(kind_of(cut), FileKind::kCaffeModel);
  }
}

// The directory of Exif data may be anywhere behind their header.
TEST(RareKindsTest, TheOrientationIsFoundWhereTheHeaderPoints) {
  for (const size_t directory : {8, 9, 20, 300}) {
    std::string tiff = "II*\0"s + Little(directory, 4) + std::string(directory - 8, '\1');
    tiff += Little(2, 2);  // entries: the width, then the orientation
    tiff += Little(0x100, 2) + Little(3, 2) + Little(1, 4) + Little(7, 4);
    tiff += Little(0x112, 2) + Little(3, 2) + Little(1, 4) + Little(6, 4);
    const std::string content = "Exif\0\0"s + tiff;
    const std::string size = {static_cast<char>((content.size() + 2) >> 8),
                              static_cast<char>((content.size() + 2) & 255)};
    const std::string xmp = "\xff\xe1\0\x06xmp!"s;  // another segment of the same marker
    EXPECT_EQ(internal::OrientationOfJpeg("\xff\xd8" + xmp + "\xff\xe1" + size + content), 6)
        << directory;
    const std::string png = "\x89PNG\r\n\x1a\n"s + std::string(2, '\0') +
                            static_cast<char>(tiff.size() >> 8) +
                            static_cast<char>(tiff.size() & 255) + "eXIf" + tiff + "crc.";
    EXPECT_EQ(internal::OrientationOfPng(png), 6) << directory;
  }
}

TEST(RareKindsTest, LargeImagesAreReadWhole) {
  const TempDir dir;
  Image image{.width = 620, .height = 620, .rgb = std::vector<uint8_t>(620 * 620 * 3)};
  uint32_t state = 1;  // noise, which PNG cannot make smaller
  for (uint8_t& value : image.rgb)
    value = static_cast<uint8_t>((state = state * 1664525 + 1013904223) >> 24);
  SavePng(dir.path("a.png"), image);
  EXPECT_GT(std::filesystem::file_size(dir.path("a.png")), uintmax_t{1} << 20);
  EXPECT_TRUE(LoadImage(dir.path("a.png")).rgb == image.rgb);
}

// --- Kinds that the caller states.

TEST(RareKindsTest, TextAsToldMayHaveCommentsAlone) {
  const TempDir dir;
  const std::string path = dir.Write("n.pbtxt", "# nothing yet\n");
  NetDef net;
  net.set_name("old");
  LoadProto(path, &net, ProtoKindCheck::kAsTold);
  EXPECT_FALSE(net.has_name());
  ExpectThrows([&] { LoadProto(path, &net, ProtoKindCheck::kByContent); },
               "it has no field, only white space or comments");
  // An empty file is not what anybody means.
  ExpectThrows([&] { LoadProto(dir.Write("e", ""), &net, ProtoKindCheck::kAsTold); },
               "it is empty");
}

// A plan parses as a net; its kind counts only if the caller leaves it to the content, in small files
// and in those that are parsed as a stream.
TEST(RareKindsTest, BinaryAsToldMayHaveTheContentOfAnotherKind) {
  const TempDir dir;
  for (const size_t bytes : {size_t{10}, size_t{2} << 20}) {
    PlanDef plan;
    plan.set_name("p");
    plan.add_network()->add_op()->set_type("Relu");
    plan.mutable_network(0)->mutable_op(0)->set_name(std::string(bytes, 'n'));
    const std::string path = dir.Write("plan", plan.SerializeAsString());
    NetDef net;
    LoadProto(path, &net, ProtoKindCheck::kAsTold);
    EXPECT_EQ(net.name(), "p") << bytes;
    ExpectThrows([&] { LoadProto(path, &net, ProtoKindCheck::kByContent); },
                 "as NetDef: it is a PlanDef");
  }
}

TEST(RareKindsTest, NetsWithoutOperatorsAreReadWithTheirWeightsToo) {
  const TempDir dir;
  const auto read = [&](const std::string& bytes) {
    return ReadNetWithWeights(dir.Write("n", bytes));
  };
  const std::optional<NetWithWeights> net = read(Packed<NetDef>("name: 'n' external_input: 'x'"));
  ASSERT_TRUE(net.has_value());
  EXPECT_EQ(net->net.name(), "n");
  EXPECT_TRUE(net->weights.empty());
  EXPECT_FALSE(read("name: 'n' external_input: 'x'").has_value());  // text
  EXPECT_FALSE(read(Packed<PlanDef>("network { op { type: 'Relu' } }")).has_value());
  EXPECT_FALSE(read("").has_value());
  const std::string weak = Packed<NetDef>("name: 'n' external_input: 'x'");
  EXPECT_TRUE(ReadNetWithWeightsFromMemory(weak).has_value());
}

// --- Limits.

// Restores the name of the thread.
class ThreadName {
 public:
  explicit ThreadName(const char* name) {
    prctl(PR_GET_NAME, before_);
    prctl(PR_SET_NAME, name);
  }
  ~ThreadName() { prctl(PR_SET_NAME, before_); }
  ThreadName(const ThreadName&) = delete;
  ThreadName& operator=(const ThreadName&) = delete;

 private:
  char before_[16] = {};
};

// The kernel's file of the thread's name states no size: it is read until it ends.
TEST(RareLimitsTest, FilesWithoutASizeMayHaveTheLimitAndNoMore) {
  const std::string path = "/proc/thread-self/comm";
  for (const std::string name : {"", "a", "seven77"}) {
    const ThreadName set(name.c_str());
    const auto bytes = static_cast<int64_t>(name.size()) + 1;
    EXPECT_EQ(ReadWholeFile(path), name + "\n");
    EXPECT_EQ(ReadWholeFile(path, bytes), name + "\n");
    EXPECT_EQ(ReadWholeFile(path, bytes + 1), name + "\n");
    ExpectThrows([&] { ReadWholeFile(path, bytes - 1); },
                 MakeString("\": got more than ", bytes - 1, bytes == 2 ? " byte" : " bytes"));
  }
}

TEST(RareLimitsTest, FilesMayHaveTheLimitAndNoMore) {
  const TempDir dir;
  const std::string path = dir.Write("f", "12345");
  EXPECT_EQ(ReadWholeFile(path, 5), "12345");
  ExpectThrows([&] { ReadWholeFile(path, 4); }, "\": got 5 bytes, want at most 4 bytes");
  EXPECT_EQ(ReadWholeFile(dir.Write("e", ""), 0), "");
}

TEST(RareLimitsTest, ValuesEndWithinTheirMessage) {
  struct Row {
    int wire_type;
    std::string bytes;
  };
  const Row rows[] = {{0, "\x80\x01"},  // varint
                      {0, "\x05"},
                      {1, "12345678"},
                      {2,
                       "\x02"
                       "ab"},
                      {5, "1234"}};
  for (const Row& row : rows) {
    const std::string file = row.bytes + "rest of the file";
    const MemoryInput input(file);
    const auto size = static_cast<int64_t>(row.bytes.size());
    for (int64_t end = 0; end <= size + 1; ++end) {
      WireCursor cursor(input);
      EXPECT_EQ(cursor.SkipValue(row.wire_type, end), end >= size) << row.wire_type << " " << end;
      if (end >= size) {
        EXPECT_EQ(cursor.at(), size);
      }
    }
  }
  const MemoryInput input("1234567890");
  for (const int wire_type : {3, 4, 6, 7}) {
    WireCursor cursor(input);
    EXPECT_FALSE(cursor.SkipValue(wire_type, 10)) << wire_type;
  }
}

// --- Logs of LevelDB, written by hand: fragments {checksum, length, type, bytes} of batches {number,
// count, operations}.

std::string PutOf(const std::string& key, const std::string& value) {
  return "\1"s + static_cast<char>(key.size()) + key + static_cast<char>(value.size()) + value;
}
std::string DeletionOf(const std::string& key) {
  return "\0"s + static_cast<char>(key.size()) + key;
}
std::string BatchOf(const std::vector<std::string>& operations) {
  std::string batch = Little(1, 8) + Little(operations.size(), 4);
  for (const std::string& operation : operations) batch += operation;
  return batch;
}
enum Fragment { kWholeBatch = 1, kFirstPart, kMiddlePart, kLastPart };
std::string FragmentOf(Fragment type, const std::string& bytes, bool damaged = false) {
  const std::string summed = static_cast<char>(type) + bytes;
  const uint32_t crc = Crc32c(summed);
  const uint32_t masked = ((crc >> 15) | (crc << 17)) + 0xa282ead8u;  // as LevelDB's format states
  return Little(masked + (damaged ? 1 : 0), 4) + Little(bytes.size(), 2) + summed;
}

TEST(LevelDBLogFormsTest, NamesTheLastKeyOfBatchesInFragments) {
  const std::string a = BatchOf({PutOf("a", "1")}), b = BatchOf({PutOf("b", "2"), PutOf("c", "3")});
  const std::string gone = BatchOf({DeletionOf("d")}),
                    mixed = BatchOf({DeletionOf("x"), PutOf("y", "4")}),
                    last_gone = BatchOf({PutOf("y", "4"), DeletionOf("z")});
  const std::string bad = FragmentOf(kWholeBatch, a, true);
  const std::string b1 = FragmentOf(kFirstPart, b.substr(0, 5)),
                    b2 = FragmentOf(kMiddlePart, b.substr(5, 10)),
                    b3 = FragmentOf(kLastPart, b.substr(15));
  const struct {
    std::string before;
    const char* key;  // or null
  } rows[] = {
      {"", nullptr},
      {FragmentOf(kWholeBatch, a), "a"},
      {FragmentOf(kWholeBatch, a) + b1 + b2 + b3, "c"},
      {b1 + b2 + b3 + FragmentOf(kWholeBatch, a), "a"},
      {b1 + b2 + b3 + b1 + b2 + b3, "c"},
      {FragmentOf(kWholeBatch, a) + FragmentOf(kFirstPart, b.substr(0, 16)),
       "b"},  // and no more of it
      {FragmentOf(kWholeBatch, a) + b1, "a"},
      {FragmentOf(kWholeBatch, gone), "d"},
      {FragmentOf(kWholeBatch, mixed), "y"},
      {FragmentOf(kWholeBatch, last_gone), "z"},
  };
  for (const auto& row : rows) {
    const TempDir dir;
    dir.Write("000003.log", row.before + bad);
    const std::string at =
        MakeString("; log \"000003.log\" is damaged at byte ", row.before.size());
    EXPECT_EQ(
        db::internal::LevelDBLogDamage(dir.path()),
        row.key == nullptr ? at : MakeString(at, ", at or after the record \"", row.key, "\""));
    dir.Write("000003.log", row.before);
    EXPECT_EQ(db::internal::LevelDBLogDamage(dir.path()), "");
  }
}

TEST(LevelDBLogFormsTest, NamesTheFirstOfSeveralLogs) {
  const TempDir dir;
  const std::string good = FragmentOf(kWholeBatch, BatchOf({PutOf("a", "1")}));
  const std::string bad = FragmentOf(kWholeBatch, BatchOf({PutOf("b", "1")}), true);
  dir.Write("000012.log", good + bad);
  dir.Write("000009.log", good);
  dir.Write("000010.log", bad);
  dir.Write("000001.ldb", bad);  // no log
  EXPECT_EQ(db::internal::LevelDBLogDamage(dir.path()),
            "; log \"000010.log\" is damaged at byte 0");
  // A fragment that is longer than the log is cut.
  dir.Write("000009.log", good.substr(0, good.size() - 1));
  EXPECT_EQ(db::internal::LevelDBLogDamage(dir.path()),
            "; log \"000009.log\" is damaged at byte 0");
}

}  // namespace
}  // namespace caffe2rt::test::rare_forms_test
