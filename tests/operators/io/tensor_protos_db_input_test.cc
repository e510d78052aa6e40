#include "operators/io/tensor_protos_db_input.h"

#include <gtest/gtest.h>

#include "tests/support/operator_test.h"

namespace caffe2rt::tensor_protos_db_input_test {
namespace {

using test::ExpectTensor;
using test::ExpectThrows;
using test::Feed;
using test::RunOp;
using test::TempDir;

// A record of two tensors: [2] floats {10 i, 10 i + 1}, and the scalar i of type int32.
std::string Record(int i) {
  TensorProtos record;
  TensorProto* const x = record.add_protos();
  x->set_data_type(TensorProto::FLOAT);
  x->add_dims(2);
  x->add_float_data(static_cast<float>(10 * i));
  x->add_float_data(static_cast<float>(10 * i + 1));
  TensorProto* const label = record.add_protos();
  label->set_data_type(TensorProto::INT32);
  label->add_int32_data(i);
  return record.SerializeAsString();
}

// Opens a reader, the blob "reader", over the given records.
class TensorProtosDBInputTest : public testing::Test {
 protected:
  void Open(const std::vector<std::string>& records) {
    {
      const auto database = db::CreateDB("minidb", dir_.path("m"), db::NEW);
      const auto transaction = database->NewTransaction();
      for (size_t i = 0; i < records.size(); ++i) transaction->Put(std::to_string(i), records[i]);
    }
    ws_.CreateBlob("reader")->GetMutable<db::DBReader>()->Open("minidb", dir_.path("m"));
  }

  void Run(const std::string& arguments = "") {
    RunOp(&ws_,
          "type: 'TensorProtosDBInput' input: 'reader' output: 'x' output: 'label' " + arguments);
  }

  const TempDir dir_;
  Workspace ws_;
};

const char* const kBatchOfTwo = "arg { name: 'batch_size' i: 2 }";

TEST_F(TensorProtosDBInputTest, ReadsARecordWithItsOwnShapes) {
  Open({Record(1), Record(2)});
  Run();
  ExpectTensor<float>(ws_, "x", {2}, {10, 11});
  ExpectTensor<int32_t>(ws_, "label", {}, {1});
  Run();
  ExpectTensor<float>(ws_, "x", {2}, {20, 21});
  ExpectTensor<int32_t>(ws_, "label", {}, {2});
}

TEST_F(TensorProtosDBInputTest, StacksABatchAndStartsAgainAfterTheLastRecord) {
  Open({Record(1), Record(2), Record(3)});
  Run(kBatchOfTwo);
  ExpectTensor<float>(ws_, "x", {2, 2}, {10, 11, 20, 21});
  ExpectTensor<int32_t>(ws_, "label", {2}, {1, 2});
  Run(kBatchOfTwo);
  ExpectTensor<float>(ws_, "x", {2, 2}, {30, 31, 10, 11});
  ExpectTensor<int32_t>(ws_, "label", {2}, {3, 1});
}

TEST_F(TensorProtosDBInputTest, ReportsRecordsThatDoNotFit) {
  TensorProtos one_tensor, other_shape, other_type, huge;
  one_tensor.add_protos();
  ASSERT_TRUE(other_shape.ParseFromString(Record(2)));
  other_type = huge = other_shape;
  other_shape.mutable_protos(0)->add_dims(1);
  other_type.mutable_protos(1)->set_data_type(TensorProto::INT64);
  other_type.mutable_protos(1)->clear_int32_data();
  other_type.mutable_protos(1)->add_int64_data(2);
  huge.mutable_protos(0)->set_dims(0, INT64_MAX);
  struct Row {
    std::vector<std::string> records;
    const char* error;
  };
  for (const Row& row :
       {Row{{Record(1), "\xff"}, "cannot read \"record 1\" as TensorProtos"},
        {{Record(1), one_tensor.SerializeAsString()}, "tensors in record 1"},
        {{Record(1), other_shape.SerializeAsString()},
         "record 1, tensor 0: the shape of a tensor is [2, 1], want [2]"},
        {{Record(1), other_type.SerializeAsString()}, "tensor 1 of record 1 is int64, want int32"},
        {{huge.SerializeAsString()}, "record 0, tensor 0: size overflow"}}) {
    SCOPED_TRACE(row.error);
    Open(row.records);
    ExpectThrows([&] { Run(kBatchOfTwo); }, row.error);
  }
}

// A record that does not fit is left out whole, wherever it is; what was read for the batch before stays.
TEST_F(TensorProtosDBInputTest, RecordsOfAnotherTypeOrShapeChangeNothingOfTheBatch) {
  TensorProtos good;
  ASSERT_TRUE(good.ParseFromString(Record(9)));
  TensorProtos wide = good, first = good, last = good, shape = good, short_data = good;
  for (int i = 0; i < 2; ++i) {
    TensorProto* const of = i == 0 ? first.mutable_protos(0) : wide.mutable_protos(0);
    of->clear_float_data();
    of->set_data_type(i == 0 ? TensorProto::INT32 : TensorProto::DOUBLE);
    for (int k = 0; k < 2; ++k) {
      if (i == 0) {
        of->add_int32_data(k);
      } else {
        of->add_double_data(k);
      }
    }
  }
  last.mutable_protos(1)->set_data_type(TensorProto::INT64);
  last.mutable_protos(1)->clear_int32_data();
  last.mutable_protos(1)->add_int64_data(9);
  shape.mutable_protos(0)->set_dims(0, 1);
  shape.mutable_protos(0)->mutable_float_data()->RemoveLast();
  short_data.mutable_protos(0)->mutable_float_data()->RemoveLast();
  for (const TensorProtos& other : {wide, first, last, shape, short_data}) {
    SCOPED_TRACE(other.ShortDebugString());
    for (const char* prefetch : {"1", "0"}) {
      const std::string more =
          MakeString("arg { name: 'batch_size' i: 3 } arg { name: 'no_prefetch' i: ", prefetch,
                     " } arg { name: 'on_error' s: 'skip' }");
      Open({Record(1), other.SerializeAsString(), Record(2), other.SerializeAsString(),
            other.SerializeAsString(), Record(3)});
      for (int run = 0; run < 2; ++run) {
        Run(more);
        ExpectTensor<float>(ws_, "x", {3, 2}, {10, 11, 20, 21, 30, 31});
        ExpectTensor<int32_t>(ws_, "label", {3}, {1, 2, 3});
      }
    }
  }
  // The error names the record and the tensor, and the run before it has not been changed.
  Open({Record(1), Record(2), Record(3), last.SerializeAsString(), Record(4)});
  Run(kBatchOfTwo);
  ExpectThrows([&] { Run(kBatchOfTwo); },
               "record 3, tensor 1: tensor 1 of record 3 is int64, want int32, the type of the "
               "tensors before it in the batch");
  ExpectTensor<float>(ws_, "x", {2, 2}, {10, 11, 20, 21});
  ExpectTensor<int32_t>(ws_, "label", {2}, {1, 2});
}

TEST_F(TensorProtosDBInputTest, ReportsWrongUse) {
  Open({Record(1)});
  ExpectThrows([&] { Run("arg { name: 'batch_size' i: -1 }"); },
               "argument \"batch_size\" is -1, want at least 0");
  Feed<float>(&ws_, "reader", {1}, {0});
  ExpectThrows([&] { Run(); }, "reader");
}

}  // namespace
}  // namespace caffe2rt::tensor_protos_db_input_test
