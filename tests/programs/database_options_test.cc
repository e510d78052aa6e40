// Options of `caffe2 db` that choose records and their order, and its documents: how many, which, and where they are.
#include <absl/strings/str_split.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "caffe2_core/io/image.h"
#include "tests/programs/program_folder.h"
#include "tests/support/json.h"

namespace caffe2rt::test::database_options_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using namespace std::string_literals;
namespace fs = std::filesystem;

class DatabaseOptionsTest : public ProgramFolder {
 protected:
  Words Lines(const Words& words) const {
    return absl::StrSplit(Out(words), '\n', absl::SkipEmpty());
  }
  // The labels of all records, in their order.
  Words Labels(const std::string& db) const {
    Words labels;
    for (const std::string& line : Lines({"db", "list", db, "--json", "--limit", "0"}))
      labels.push_back(JsonAt(line, "/label"));
    return labels;
  }
  std::string Type(const std::string& db) const {
    return JsonAt(Out({"db", "info", db, "--json"}), "/type");
  }
  // A database of `count` records of one float, whose labels are 0, 1, 2, ...
  std::string Arrays(int64_t count, const std::string& name) const {
    Tensor y({count}, CPU);
    for (int64_t i = 0; i < count; ++i) y.mutable_data<int64_t>()[i] = i;
    dir_.Write("y.npy", "");
    WriteNpy(dir_.path("y.npy"), y);
    Array("x.npy", {count, 1}, std::vector<float>(static_cast<size_t>(count), 1));
    Out({"db", "make", "arrays", "DIR/x.npy", "DIR/y.npy", "--output", "DIR/" + name});
    return "DIR/" + name;
  }
  // A folder of six classes with an image each.
  void WritePets() const {
    for (const char* name : {"a", "b", "c", "d", "e", "f"}) {
      const std::string file = "pets/"s + name + "/1.png";
      dir_.Write(file, "");
      SavePng(dir_.path(file), {.width = 1, .height = 1, .rgb = {1, 2, 3}});
    }
  }
};

TEST_F(DatabaseOptionsTest, LimitEndsEachDataSet) {
  dir_.Write("images",
             "\0\0\x08\3\0\0\0\3\0\0\0\x1c\0\0\0\x1c"s + std::string(size_t{3} * 784, 'x'));
  dir_.Write("labels", "\0\0\x08\1\0\0\0\3\3\7\2"s);
  std::string cifar;
  for (const char label : {'\4', '\5', '\6'}) cifar += label + std::string(3072, 'x');
  dir_.Write("cifar.bin", cifar);
  Array("x.npy", {3, 1}, {1, 1, 1});
  Tensor y({3}, CPU);
  for (int64_t i = 0; i < 3; ++i) y.mutable_data<int64_t>()[i] = 7 + i;
  dir_.Write("y.npy", "");
  WriteNpy(dir_.path("y.npy"), y);
  WritePets();
  const struct {
    Words source, labels;
  } sources[] = {{{"mnist", "DIR/images", "DIR/labels"}, {"3", "7", "2"}},
                 {{"cifar", "DIR/cifar.bin"}, {"4", "5", "6"}},
                 {{"arrays", "DIR/x.npy", "DIR/y.npy"}, {"7", "8", "9"}},
                 {{"images", "DIR/pets"}, {"0", "1", "2", "3", "4", "5"}}};
  int number = 0;
  for (const auto& source : sources) {
    for (const size_t limit : {size_t{2}, source.labels.size() - 1, source.labels.size(),
                               source.labels.size() + 1, size_t{0}}) {
      SCOPED_TRACE(source.source[0] + " " + std::to_string(limit));
      const std::string db = "DIR/" + std::to_string(number++) + ".minidb";
      const Words words = Joined(Joined({"db", "make"}, source.source),
                                 {"--output", db, "--limit", std::to_string(limit)});
      const size_t count =
          limit == 0 ? source.labels.size() : std::min(limit, source.labels.size());
      EXPECT_EQ(Out(words), db + ": " + std::to_string(count) + " records\n");
      EXPECT_EQ(Labels(db), Words(source.labels.begin(),
                                  source.labels.begin() + static_cast<ptrdiff_t>(count)));
    }
  }
  EXPECT_EQ(Out({"db", "make", "arrays", "DIR/x.npy", "--output", "DIR/one.lmdb", "--limit", "1"}),
            "DIR/one.lmdb: 1 record\n");
  EXPECT_THAT(Out({"db", "info", "DIR/one.lmdb"}), HasSubstr(": lmdb, 1 record, "));
}

TEST_F(DatabaseOptionsTest, AThousandRecordsAreListed) {
  const std::string db = Arrays(1001, "many.minidb");
  for (const auto& [limit, count] :
       {std::pair("", 1000), {"0", 1001}, {"1", 1}, {"7", 7}, {"2000", 1001}}) {
    Words words = {"db", "list", db};
    if (*limit != 0) words.insert(words.end(), {"--limit", limit});
    const Words lines = Lines(words);
    const bool is_cut = count < 1001;
    ASSERT_EQ(lines.size(), static_cast<size_t>(count + 1 + (is_cut ? 1 : 0))) << limit;
    EXPECT_TRUE(lines[static_cast<size_t>(count)].starts_with(
        "  " + std::to_string(100000000 + count - 1).substr(1)))
        << lines[static_cast<size_t>(count)];
    EXPECT_EQ(lines.back() == "--limit 0 lists all records", is_cut);
    words.push_back("--json");
    const Words documents = Lines(words);
    ASSERT_EQ(documents.size(), static_cast<size_t>(count)) << limit;
    EXPECT_EQ(JsonAt(documents.back(), "/label"), std::to_string(count - 1));
  }
}

TEST_F(DatabaseOptionsTest, LabelsMayBeNegative) {
  Tensor y({4}, CPU);
  int64_t* const labels = y.mutable_data<int64_t>();
  labels[0] = -3;
  labels[1] = 0;
  labels[2] = INT32_MIN;
  labels[3] = -3;
  dir_.Write("y.npy", "");
  WriteNpy(dir_.path("y.npy"), y);
  Array("x.npy", {4, 1}, {1, 1, 1, 1});
  Out({"db", "make", "arrays", "DIR/x.npy", "DIR/y.npy", "--output", "DIR/n.minidb"});
  const Words all = {"-3", "0", "-2147483648", "-3"};
  EXPECT_EQ(Labels("DIR/n.minidb"), all);
  const Words lines = Lines({"db", "list", "DIR/n.minidb"});
  ASSERT_EQ(lines.size(), 5u);
  for (size_t i = 0; i < all.size(); ++i) {
    const Words cells = absl::StrSplit(lines[i + 1], ' ', absl::SkipEmpty());
    EXPECT_EQ(cells.at(2), all[i]) << lines[i + 1];
  }
  const std::string info = Out({"db", "info", "DIR/n.minidb", "--json"});
  EXPECT_EQ(JsonAt(info, "/labels"), R"({"-2147483648":1,"-3":2,"0":1})");
}

// The labels are 0 to 1000, and once more 0 and 1000.
TEST_F(DatabaseOptionsTest, AThousandLabelsAreCounted) {
  constexpr int64_t kCount = 1003;
  Tensor y(std::vector<int64_t>{kCount}, CPU);
  for (int64_t i = 0; i < kCount; ++i) y.mutable_data<int64_t>()[i] = i;
  y.mutable_data<int64_t>()[kCount - 2] = 0;
  y.mutable_data<int64_t>()[kCount - 1] = 1000;
  dir_.Write("y.npy", "");
  WriteNpy(dir_.path("y.npy"), y);
  Out({"db", "make", "arrays", "DIR/y.npy", "--output", "DIR/many.minidb"});
  const std::string json = Out({"db", "info", "DIR/many.minidb", "--json"});
  EXPECT_EQ(JsonAt(json, "/records"), "1003");
  EXPECT_EQ(JsonSize(json, "/labels"), 1000u);
  EXPECT_EQ(JsonAt(json, "/labels/0"), "2");
  EXPECT_EQ(JsonAt(json, "/labels/999"), "1");
  EXPECT_EQ(json.find("\"1000\": "), std::string::npos);
}

TEST_F(DatabaseOptionsTest, TheOptionStatesTheTypeOfANewDatabase) {
  Array("x.npy", {3, 1}, {1, 2, 3});
  const Words make = {"db", "make", "arrays", "DIR/x.npy", "--output"};
  for (const auto& [name, type, want] :
       {std::tuple("a", "lmdb", "\"lmdb\""), {"b.lmdb", "minidb", "\"minidb\""},
        {"c.minidb", "leveldb", "\"leveldb\""}, {"d.leveldb", "", "\"leveldb\""}}) {
    const std::string db = "DIR/"s + name;
    Words words = make;
    words.push_back(db);
    if (*type != 0) words.insert(words.end(), {"--db-type", type});
    Out(words);
    EXPECT_EQ(Type(db), want);
    // A copy has a type of its own.
    words = {"db", "convert", db, "--output", db + "_copy.minidb"};
    EXPECT_EQ(Out(words), db + "_copy.minidb: 3 records\n");
    EXPECT_EQ(Type(db + "_copy.minidb"), "\"minidb\"");
    words.back() = db + "_other.minidb";
    words.insert(words.end(), {"--db-type", "lmdb"});
    Out(words);
    EXPECT_EQ(Type(db + "_other.minidb"), "\"lmdb\"");
  }
}

TEST_F(DatabaseOptionsTest, DocumentsStateWhatIsMade) {
  Array("x.npy", {3, 1}, {1, 2, 3});
  EXPECT_EQ(Out({"db", "make", "arrays", "DIR/x.npy", "--output", "DIR/a.minidb", "--json"}),
            "{\"database\": \"DIR/a.minidb\", \"records\": 3}\n");
  EXPECT_EQ(Out({"db", "convert", "DIR/a.minidb", "--output", "DIR/b.lmdb", "--json"}),
            "{\"database\": \"DIR/b.lmdb\", \"records\": 3}\n");
  EXPECT_EQ(Out({"db", "split", "DIR/a.minidb", "--parts", "3", "--output", "DIR/p", "--json"}),
            "{\"databases\": [\"DIR/p0\", \"DIR/p1\", \"DIR/p2\"]}\n");
  EXPECT_EQ(Out({"db", "split", "DIR/a.minidb", "--parts", "1", "--output", "DIR/whole"}),
            "DIR/whole0\n");
  EXPECT_EQ(Out({"db", "info", "DIR/whole0", "--json"}).substr(0, 60),
            "{\"database\": \"DIR/whole0\", \"type\": \"minidb\", \"records\": 3, \"byt"s.substr(0, 60));
}

// Records go round: 0 and 2 to the first part, 1 and 3 to the second.
TEST_F(DatabaseOptionsTest, TwoPartsAreBesideTheDatabase) {
  const std::string db = Arrays(4, "a.lmdb");
  EXPECT_EQ(Out({"db", "split", db}), "DIR/a.lmdb_split_0\nDIR/a.lmdb_split_1\n");
  EXPECT_EQ(Labels("DIR/a.lmdb_split_0"), (Words{"0", "2"}));
  EXPECT_EQ(Labels("DIR/a.lmdb_split_1"), (Words{"1", "3"}));
  EXPECT_EQ(Type("DIR/a.lmdb_split_1"), "\"lmdb\"");
  const ProgramResult parts = Run({"db", "split", db, "--parts", "1001"});
  EXPECT_EQ(parts.code, 2);
  EXPECT_EQ(parts.err, "caffe2: option --parts is \"1001\", want a number from 1 to 1000\n");
}

TEST_F(DatabaseOptionsTest, ASeedOrdersTheImages) {
  WritePets();
  int number = 0;
  const auto order = [&](const Words& more) {
    const std::string db = "DIR/" + std::to_string(number++) + ".minidb";
    Out(Joined({"db", "make", "images", "DIR/pets", "--output", db}, more));
    return Labels(db);
  };
  const Words sorted = {"0", "1", "2", "3", "4", "5"};
  EXPECT_EQ(order({}), sorted);
  const Words shuffled = order({"--shuffle"});
  EXPECT_NE(shuffled, sorted);
  EXPECT_EQ(order({"--shuffle", "--seed", "1701"}), shuffled) << "the default";
  const Words other = order({"--shuffle", "--seed", "4294967295"});
  EXPECT_NE(other, shuffled);
  EXPECT_EQ(order({"--shuffle", "--seed", "4294967295"}), other);
  for (Words labels : {shuffled, other}) {
    std::sort(labels.begin(), labels.end());
    EXPECT_EQ(labels, sorted);
  }
  // The first ones of the order.
  EXPECT_EQ(order({"--shuffle", "--limit", "2"}), (Words{shuffled[0], shuffled[1]}));
}

// Each record is a label and 3072 bytes.
TEST_F(DatabaseOptionsTest, AFolderOfCifarHasImagesForTests) {
  const std::string pixels(3072, 'x');
  for (int i = 1; i <= 5; ++i)
    dir_.Write("cifar/data_batch_" + std::to_string(i) + ".bin",
               std::string(1, static_cast<char>(i)) + pixels);
  dir_.Write("cifar/test_batch.bin", "\x9" + pixels);
  Out({"db", "make", "cifar", "DIR/cifar", "--output", "DIR/train.minidb"});
  EXPECT_EQ(Labels("DIR/train.minidb"), (Words{"1", "2", "3", "4", "5"}));
  Out({"db", "make", "cifar", "DIR/cifar", "--test", "--output", "DIR/test.minidb"});
  EXPECT_EQ(Labels("DIR/test.minidb"), Words{"9"});
  Out({"db", "make", "cifar", "DIR/cifar/data_batch_3.bin", "DIR/cifar/test_batch.bin", "--output",
       "DIR/two.minidb", "--channels-first"});
  EXPECT_EQ(Labels("DIR/two.minidb"), (Words{"3", "9"}));
  EXPECT_EQ(JsonAt(Out({"db", "info", "DIR/two.minidb", "--json"}), "/contents"),
            R"({"uint8 [3, 32, 32], int32 [1]":2})");
  EXPECT_EQ(JsonAt(Out({"db", "info", "DIR/train.minidb", "--json"}), "/contents"),
            R"({"uint8 [32, 32, 3], int32 [1]":5})");
}

// The seconds have six digits.
TEST_F(DatabaseOptionsTest, RatesAreThoseOfTheTime) {
  constexpr int64_t kRows = 8, kFloats = 200'000;
  Array("x.npy", {kRows, kFloats}, std::vector<float>(size_t{kRows} * kFloats, 1));
  Out({"db", "make", "arrays", "DIR/x.npy", "--output", "DIR/a.minidb"});
  const std::string info = Out({"db", "info", "DIR/a.minidb", "--json"});
  const double mebibytes = std::stod(JsonAt(info, "/bytes")) / 1048576;
  const Words lines = Lines({"db", "throughput", "DIR/a.minidb", "--repeat", "3"});
  ASSERT_EQ(lines.size(), 3u);
  for (size_t i = 0; i < lines.size(); ++i) {
    int round = 0, records = 0;
    double seconds = 0, per_second = 0, mebibytes_per_second = 0;
    ASSERT_EQ(std::sscanf(lines[i].c_str(), "round %d: %d records in %lf s, %lf records/s, %lf MiB/s",
                          &round, &records, &seconds, &per_second, &mebibytes_per_second),
              5)
        << lines[i];
    EXPECT_TRUE(lines[i].ends_with(" MiB/s"));
    EXPECT_EQ(round, static_cast<int>(i) + 1);
    EXPECT_EQ(records, kRows);
    EXPECT_NEAR(per_second, kRows / seconds, 1 + 1e-4 * kRows / seconds);
    EXPECT_NEAR(mebibytes_per_second, mebibytes / seconds, 1 + 1e-3 * mebibytes / seconds);
  }
}

}  // namespace
}  // namespace caffe2rt::test::database_options_test
