// What maps, indices and counters write to files, and what they accept from them.

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "caffe2_core/io/blob_serialization.h"
#include "caffe2_core/runtime/stat_registry.h"
#include "operators/state/counter.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::state_records_test {
namespace {

constexpr char kMake[] = "type: 'KeyValueToMap' input: 'k' input: 'v' output: 'm'";
constexpr char kList[] = "type: 'MapToKeyValue' input: 'm' output: 'k2' output: 'v2'";

BlobProto RecordOf(const Workspace& ws, const std::string& name) {
  BlobProto proto;
  EXPECT_TRUE(proto.ParseFromString(SerializeBlob(*ws.GetBlob(name), name)));
  return proto;
}

template <class K, class V>
void ExpectPairs(const Workspace& ws, const std::vector<std::pair<K, V>>& want) {
  const std::vector<K> keys = Fetch<K>(ws, "k2");
  const std::vector<V> values = Fetch<V>(ws, "v2");
  ASSERT_EQ(keys.size(), values.size());
  std::vector<std::pair<K, V>> pairs;
  for (size_t i = 0; i < keys.size(); ++i) pairs.emplace_back(keys[i], values[i]);
  std::sort(pairs.begin(), pairs.end());
  EXPECT_EQ(pairs, want);
}

template <class K, class V>
void ExpectMapSurvives(const std::string& type) {
  SCOPED_TRACE(type);
  Workspace ws;
  Feed<K>(&ws, "k", {3}, {5, -1, 7});
  Feed<V>(&ws, "v", {3}, {50, 10, -70});
  RunOp(&ws, kMake);
  const BlobProto record = RecordOf(ws, "m");
  EXPECT_EQ(record.name(), "m");
  EXPECT_EQ(record.type(), type);
  Feed<K>(&ws, "k", {1}, {5});
  Feed<V>(&ws, "v", {1}, {1});
  RunOp(&ws, kMake);
  RunOp(&ws, kList);
  ExpectPairs<K, V>(ws, {{5, 1}});
  DeserializeBlob(record, ws.GetBlob("m"));
  RunOp(&ws, kList);
  ExpectPairs<K, V>(ws, {{-1, 10}, {5, 50}, {7, -70}});
}

TEST(MapRecordTest, KeepsTheTypesAndAllPairs) {
  ExpectMapSurvives<int32_t, int32_t>("(std::unordered_map<int32_t, int32_t>)");
  ExpectMapSurvives<int32_t, int64_t>("(std::unordered_map<int32_t, int64_t>)");
  ExpectMapSurvives<int64_t, int32_t>("(std::unordered_map<int64_t, int32_t>)");
  ExpectMapSurvives<int64_t, int64_t>("(std::unordered_map<int64_t, int64_t>)");
}

TEST(MapRecordTest, IsRejectedWithoutTwoTensorsOfOneSize) {
  Workspace ws;
  Feed<int32_t>(&ws, "k", {1}, {5});
  Feed<int32_t>(&ws, "v", {1}, {6});
  RunOp(&ws, kMake);
  BlobProto record = RecordOf(ws, "m");
  TensorProtos tensors;
  ASSERT_TRUE(tensors.ParseFromString(record.content()));
  tensors.mutable_protos(1)->set_dims(0, 2);
  tensors.mutable_protos(1)->add_int32_data(7);
  tensors.mutable_protos(1)->mutable_segment()->set_end(2);
  record.set_content(tensors.SerializeAsString());
  ExpectThrows([&] { DeserializeBlob(record, ws.CreateBlob("n")); },
               "values, want one for each key (got 2, want 1)");
  *tensors.add_protos() = tensors.protos(0);
  record.set_content(tensors.SerializeAsString());
  ExpectThrows([&] { DeserializeBlob(record, ws.CreateBlob("n")); },
               "the record of map \"m\" does not hold two tensors: keys and values");
  tensors.mutable_protos()->RemoveLast();
  tensors.mutable_protos()->RemoveLast();
  record.set_content(tensors.SerializeAsString());
  ExpectThrows([&] { DeserializeBlob(record, ws.CreateBlob("n")); },
               "the record of map \"m\" does not hold two tensors: keys and values");
  record.set_content("?");
  ExpectThrows([&] { DeserializeBlob(record, ws.CreateBlob("n")); },
               "the record of map \"m\" does not hold two tensors: keys and values");
}

TEST(MapTypesTest, AreThoseOfTheArguments) {
  Workspace ws;
  RunOp(&ws, "type: 'CreateMap' output: 'm'");
  EXPECT_EQ(RecordOf(ws, "m").type(), "(std::unordered_map<int32_t, int32_t>)");
  RunOp(&ws, "type: 'CreateMap' output: 'm' arg { name: 'key_dtype' i: 10 }");
  EXPECT_EQ(RecordOf(ws, "m").type(), "(std::unordered_map<int64_t, int32_t>)");
  ExpectThrows(
      [&] { RunOp(&ws, "type: 'CreateMap' output: 'm' arg { name: 'value_dtype' i: 3 }"); },
      "argument \"value_dtype\" is 3, want 2 (INT32) or 10 (INT64)");
  Feed<float>(&ws, "k", {1}, {5});
  Feed<int32_t>(&ws, "v", {2}, {6, 7});
  ExpectThrows([&] { RunOp(&ws, kMake); },
               "the keys has elements of type float, want int32, int64");
  Feed<int64_t>(&ws, "k", {1}, {5});
  ExpectThrows([&] { RunOp(&ws, kMake); }, "values, want one for each key (got 2, want 1)");
  *ws.CreateBlob("m")->GetMutable<std::string>() = "no map";
  ExpectThrows([&] { RunOp(&ws, kList); }, "want a map from numbers to numbers");
}

TEST(CounterRecordTest, IsRejectedWithoutACounterOrWithOtherNumbers) {
  Workspace ws;
  ws.CreateBlob("c")->GetMutable<CounterBlob>();
  ExpectThrows([&] { SerializeBlob(*ws.GetBlob("c"), "c"); }, "blob \"c\" holds no counter");
  RunOp(&ws, "type: 'CreateCounter' output: 'c' arg { name: 'init_count' i: 9 }");
  BlobProto record = RecordOf(ws, "c");
  EXPECT_EQ(record.name(), "c");
  EXPECT_EQ(record.tensor().data_type(), TensorProto_DataType_INT64);
  ASSERT_EQ(record.tensor().dims_size(), 1);
  EXPECT_EQ(record.tensor().dims(0), 1);
  record.mutable_tensor()->add_int64_data(3);
  ExpectThrows([&] { DeserializeBlob(record, ws.GetBlob("c")); },
               "the record of counter \"c\" has 2 int64 numbers, want 1");
  record.mutable_tensor()->mutable_int64_data()->RemoveLast();
  record.mutable_tensor()->set_data_type(TensorProto_DataType_INT32);
  ExpectThrows([&] { DeserializeBlob(record, ws.GetBlob("c")); },
               "the record of counter \"c\" has 1 int64 numbers, want 1");
  RunOp(&ws, "type: 'RetrieveCount' input: 'c' output: 'n'");
  ExpectTensor<int64_t>(ws, "n", {}, {9});
}

TEST(IndexRecordTest, KeepsItsLimitAndIsRejectedWhereItDoesNotFit) {
  Workspace ws;
  RunOp(&ws, "type: 'LongIndexCreate' output: 'i'");
  Feed<int64_t>(&ws, "k", {2}, {40, 50});
  RunOp(&ws, "type: 'IndexLoad' input: 'i' input: 'k' output: 'i'");
  BlobProto record = RecordOf(ws, "i");
  EXPECT_EQ(record.name(), "i");
  EXPECT_EQ(record.content(), "2147483647 0");
  record.set_content("2 0");
  DeserializeBlob(record, ws.GetBlob("i"));
  Feed<int64_t>(&ws, "k", {1}, {60});
  ExpectThrows(
      [&] { RunOp(&ws, "type: 'IndexGet' input: 'i' input: 'k' output: 'n'"); },
      "number of the new key \"60\", want less than max_elements (got 3, want less than 2)");
  for (const char* const text : {"", "2", "x 0", "2 x", "2 0 0"}) {
    record.set_content(text);
    ExpectThrows(
        [&] { DeserializeBlob(record, ws.GetBlob("i")); },
        MakeString("the record of index \"i\" has the text \"", text, "\", want two numbers"));
  }
  record.set_content("1 0");
  ExpectThrows([&] { DeserializeBlob(record, ws.GetBlob("i")); },
               "keys to load, want at most max_elements (got 2, want at most 1)");
  Workspace floats;
  Feed<float>(&floats, "f", {1}, {1});
  *record.mutable_tensor() = RecordOf(floats, "f").tensor();
  ExpectThrows([&] { DeserializeBlob(record, ws.GetBlob("i")); },
               "the record of the index has elements of type float, want int32, int64, string");
  RunOp(&ws, "type: 'IndexStore' input: 'i' output: 's'");
  ExpectTensor<int64_t>(ws, "s", {2}, {40, 50});
}

TEST(IndexKeysTest, AreOfTheTypeOfTheIndex) {
  Workspace ws;
  RunOp(&ws, "type: 'IntIndexCreate' output: 'i'");
  Feed<std::string>(&ws, "k", {1}, {"a"});
  ExpectThrows([&] { RunOp(&ws, "type: 'IndexGet' input: 'i' input: 'k' output: 'n'"); },
               ", want that of the index's keys, int");
}

TEST(StatRegistryBlobTest, IsRejectedWithoutARegistry) {
  Workspace ws;
  ws.CreateBlob("r")->GetMutable<std::unique_ptr<StatRegistry>>();
  Feed<std::string>(&ws, "k", {1}, {"a"});
  Feed<int64_t>(&ws, "v", {1}, {1});
  ExpectThrows([&] { RunOp(&ws, "type: 'StatRegistryUpdate' input: 'k' input: 'v' input: 'r'"); },
               "input 2 (handle) holds no registry");
  ExpectThrows(
      [&] {
        RunOp(&ws, "type: 'StatRegistryExport' input: 'r' output: 'x' output: 'y' output: 'z'");
      },
      "input 0 (handle) holds no registry");
}

// A mark and a limit belong to an index without keys, too.
TEST(IndexRecordTest, OfNoKeysKeepsMarkAndLimit) {
  for (const std::string type : {"Int", "Long", "String"}) {
    SCOPED_TRACE(type);
    Workspace ws;
    RunOp(&ws, MakeString("type: '", type,
                          "IndexCreate' output: 'i' arg { name: 'max_elements' i: 2 }"));
    const BlobProto open = RecordOf(ws, "i");
    EXPECT_EQ(open.content(), "2 0");
    RunOp(&ws, "type: 'IndexFreeze' input: 'i' output: 'i'");
    const BlobProto frozen = RecordOf(ws, "i");
    EXPECT_EQ(frozen.content(), "2 1");
    if (type == "Int") Feed<int32_t>(&ws, "k", {2}, {4, 5});
    if (type == "Long") Feed<int64_t>(&ws, "k", {2}, {4, 5});
    if (type == "String") Feed<std::string>(&ws, "k", {2}, {"", "5"});
    const char* const get = "type: 'IndexGet' input: 'i' input: 'k' output: 'n'";
    const auto expect_size = [&](int64_t size) {
      RunOp(&ws, "type: 'IndexSize' input: 'i' output: 'size'");
      ExpectTensor<int64_t>(ws, "size", {}, {size});
    };
    RunOp(&ws, get);
    ExpectTensor<int64_t>(ws, "n", {2}, {0, 0});
    DeserializeBlob(open, ws.GetBlob("i"));
    ExpectThrows([&] { RunOp(&ws, get); }, "(got 2, want less than 2)");
    expect_size(2);
    DeserializeBlob(frozen, ws.GetBlob("i"));
    RunOp(&ws, get);
    ExpectTensor<int64_t>(ws, "n", {2}, {0, 0});
    expect_size(1);
  }
}

TEST(FrozenIndexTest, GivesZeroForNewKeysAndIsLoadedAgain) {
  Workspace ws;
  RunOp(&ws, "type: 'StringIndexCreate' output: 'i' arg { name: 'max_elements' i: 2 }");
  RunOp(&ws, "type: 'IndexFreeze' input: 'i' output: 'i'");
  Feed<std::string>(&ws, "k", {2, 1}, {"a", "b"});
  RunOp(&ws, "type: 'IndexGet' input: 'i' input: 'k' output: 'n'");
  ExpectTensor<int64_t>(ws, "n", {2, 1}, {0, 0});
  RunOp(&ws, "type: 'IndexLoad' input: 'i' input: 'k' output: 'i'");
  RunOp(&ws, "type: 'IndexGet' input: 'i' input: 'k' output: 'n'");
  ExpectTensor<int64_t>(ws, "n", {2, 1}, {1, 2});
  Feed<std::string>(&ws, "k", {1}, {"c"});
  RunOp(&ws, "type: 'IndexGet' input: 'i' input: 'k' output: 'n'");
  ExpectTensor<int64_t>(ws, "n", {1}, {0});
}

}  // namespace
}  // namespace caffe2rt::test::state_records_test
