#include "caffe2_core/io/tensor_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "caffe2_core/io/db.h"
#include "tests/support/operator_test.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::tensor_file_test {
namespace {

class TensorFileTest : public ::testing::Test {
 protected:
  static void Fill(const std::string& name, float value, TensorProto* proto) {
    proto->set_name(name);
    proto->set_data_type(TensorProto::FLOAT);
    proto->add_dims(1);
    proto->add_float_data(value);
  }
  // A record of one element of tensor `name`, which has two.
  static std::string Half(const std::string& name, int index) {
    BlobProto blob;
    blob.set_name(name);
    blob.set_type("Tensor");
    Fill(name, static_cast<float>(index), blob.mutable_tensor());
    blob.mutable_tensor()->set_dims(0, 2);
    blob.mutable_tensor()->mutable_segment()->set_begin(index);
    blob.mutable_tensor()->mutable_segment()->set_end(index + 1);
    return blob.SerializeAsString();
  }
  std::string Database(const std::vector<std::pair<std::string, std::string>>& records) {
    const auto database = db::CreateDB("minidb", dir_.path("d"), db::NEW);
    const auto transaction = database->NewTransaction();
    for (const auto& [key, value] : records) transaction->Put(key, value);
    transaction->Commit();
    return dir_.path("d");
  }
  TempDir dir_;
};

TEST_F(TensorFileTest, NamesTheTensorsOfADataSetAfterTheirRecords) {
  TensorProtos record;
  Fill("image", 1, record.add_protos());
  Fill("", 2, record.add_protos());
  const NamedTensors tensors = LoadNamedTensors(Database({{"0001", record.SerializeAsString()}}));
  ASSERT_EQ(tensors.size(), 2u);
  EXPECT_EQ(tensors[0].first, "0001/image");
  EXPECT_EQ(tensors[1].first, "0001/1");
  EXPECT_EQ(tensors[1].second.data<float>()[0], 2);
}

TEST_F(TensorFileTest, JoinsRecordsInAnyOrder) {
  const NamedTensors tensors =
      LoadNamedTensors(Database({{"x#%1", Half("x", 1)}, {"x#%0", Half("x", 0)}}));
  ASSERT_EQ(tensors.size(), 1u);
  EXPECT_EQ(tensors[0].first, "x");
  EXPECT_EQ(tensors[0].second.data<float>()[0], 0);
  EXPECT_EQ(tensors[0].second.data<float>()[1], 1);
}

TEST_F(TensorFileTest, RejectsTensorsThatAreIncompleteOrTooLong) {
  const auto load = [&](const std::vector<std::pair<std::string, std::string>>& records) {
    return [this, records] { LoadNamedTensors(Database(records)); };
  };
  ExpectThrows(load({{"x#%0", Half("x", 0)}}), "elements of tensor \"x\"");
  ExpectThrows(load({{"x#%0", Half("x", 0)}, {"y#%0", Half("y", 0)}}), "elements of tensor \"x\"");
  ExpectThrows(load({{"x#%0", Half("x", 0)}, {"x#%1", Half("x", 1)}, {"x#%2", Half("x", 1)}}),
               "elements in the records of tensor \"x\"");
}

TEST_F(TensorFileTest, RejectsTwoTensorsOfOneName) {
  TensorProtos protos;
  Fill("x", 1, protos.add_protos());
  Fill("x", 2, protos.add_protos());
  const std::string file = dir_.Write("t.pb", protos.SerializeAsString());
  ExpectThrows([&] { LoadNamedTensors(file); }, "contains two tensors named \"x\"");
}

TEST_F(TensorFileTest, OpensNoFileThatARecordNames) {
  BlobProto blob;
  blob.set_name("reader");
  blob.set_type("DBReader");
  blob.set_content("elsewhere");
  ExpectThrows(
      [&] {
        LoadNamedTensors(Database({{"reader", blob.SerializeAsString()}}));
      },
      "is a \"DBReader\", want a tensor or a string");
}

TEST_F(TensorFileTest, RejectsFilesAndFoldersWithoutTensors) {
  EXPECT_FALSE(IsFolderOfTensors(dir_.path()));
  ExpectThrows([&] { LoadNamedTensors(dir_.path()); }, "cannot read");
  ExpectThrows([&] { LoadNamedTensors(dir_.Write("n.pbtxt", "op { type: 'Relu' }")); },
               "is a NetDef");
}

TEST_F(TensorFileTest, RejectsNamesThatADatabaseCannotKeep) {
  Workspace values;
  WriteNpz(dir_.path("a.npz"), {{"x#%0", *Feed<float>(&values, "x", {1}, {1})}});
  ExpectThrows(
      [&] {
        ConvertTensorFile(dir_.path("a.npz"), FileKind::kNpz, ProtoKindCheck::kByContent,
                          {.path = dir_.path("a.minidb"), .format = TensorFormat::kMiniDB});
      },
      "its name contains \"#%\"");
}

}  // namespace
}  // namespace caffe2rt::test::tensor_file_test
