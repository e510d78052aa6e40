#include "caffe2_core/training/data_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/io/db.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::data_facts_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

void AddTensor(TensorProto::DataType type, const std::vector<int64_t>& dims, TensorProtos* record) {
  TensorProto* const tensor = record->add_protos();
  tensor->set_data_type(type);
  for (const int64_t dim : dims) tensor->add_dims(dim);
}

std::string ImageRecord() {
  TensorProtos record;
  AddTensor(TensorProto::BYTE, {28, 28, 1}, &record);
  AddTensor(TensorProto::INT32, {1}, &record);
  return record.SerializeAsString();
}

void Write(const std::string& type, const std::string& path,
           const std::vector<std::string>& values) {
  const std::unique_ptr<db::DB> database = db::OpenDB(type, path, db::NEW);
  const std::unique_ptr<db::Transaction> transaction = database->NewTransaction();
  for (size_t i = 0; i < values.size(); ++i)
    transaction->Put("record" + std::string(1, static_cast<char>('0' + i)), values[i]);
  transaction->Commit();
}

class DataFactsTypeTest : public ::testing::TestWithParam<const char*> {};

TEST_P(DataFactsTypeTest, CountsRecordsAndDescribesTheFirst) {
  const TempDir dir;
  const std::string type = GetParam(), path = dir.path("data");
  Write(type, path, {ImageRecord(), ImageRecord(), ImageRecord()});
  for (const std::string& given : {type, std::string()}) {
    const DataFacts facts = ReadDataFacts({given, path});
    EXPECT_EQ(facts.place.type, type) << "given: " << given;
    EXPECT_EQ(facts.records, 3);
    ASSERT_EQ(facts.tensors.size(), 2u);
    EXPECT_THAT(facts.tensors[0].dims, ElementsAre(28, 28, 1));
    EXPECT_THAT(facts.tensors[1].dims, ElementsAre(1));
    EXPECT_EQ(facts.tensors[0].type, TensorProto::BYTE);
    EXPECT_EQ(facts.tensors[1].type, TensorProto::INT32);
  }
}

INSTANTIATE_TEST_SUITE_P(Databases, DataFactsTypeTest,
                         ::testing::Values("minidb", "leveldb", "lmdb"),
                         [](const auto& info) { return std::string(info.param); });

TEST(DataFactsTest, RejectsWhatIsNoTrainingData) {
  const TempDir dir;
  TensorProto raw;
  raw.add_dims(2);
  raw.set_data_type(TensorProto::FLOAT);
  Write("minidb", dir.path("empty"), {});
  // A field that TensorProtos does not have.
  Write("minidb", dir.path("no_tensors"), {"\x10\x01"});
  Write("minidb", dir.path("tensor"), {raw.SerializeAsString()});
  Write("minidb", dir.path("text"), {"no record of a training"});
  dir.Write("notes.txt", "mine");
  struct Case {
    const char* file;
    const char* type;
    const char* text;
  };
  const Case cases[] = {
      {"empty", "minidb", "has no record"},
      {"no_tensors", "minidb", "record \"record0\" of database"},
      {"tensor", "minidb", "is not a TensorProtos with tensors, as caffe2 db make writes them"},
      {"text", "minidb", "is not a TensorProtos with tensors"},
      {"notes.txt", "", "as a database: "},
      {"missing", "", "as a database: "}};
  for (const Case& c : cases) {
    try {
      (void)ReadDataFacts({c.type, dir.path(c.file)});
      ADD_FAILURE() << c.file;
    } catch (const EnforceNotMet& error) {
      EXPECT_THAT(error.message(), HasSubstr(c.text)) << c.file;
    }
  }
}

TEST(DataFactsTest, SeparateImagesAndIntegersFromOtherTypes) {
  struct Case {
    TensorProto::DataType type;
    bool is_image, is_integer;
  };
  const Case cases[] = {{TensorProto::STRING, true, false},  {TensorProto::FLOAT, false, false},
                        {TensorProto::DOUBLE, false, false}, {TensorProto::FLOAT16, false, false},
                        {TensorProto::BYTE, false, true},    {TensorProto::UINT8, false, true},
                        {TensorProto::INT8, false, true},    {TensorProto::INT16, false, true},
                        {TensorProto::UINT16, false, true},  {TensorProto::INT32, false, true},
                        {TensorProto::INT64, false, true},   {TensorProto::BOOL, false, true}};
  for (const Case& c : cases) {
    const TensorFacts facts{.type = c.type, .dims = {}};
    EXPECT_EQ(facts.is_image(), c.is_image) << c.type;
    EXPECT_EQ(facts.is_integer(), c.is_integer) << c.type;
  }
}

}  // namespace
}  // namespace caffe2rt::test::data_facts_test
