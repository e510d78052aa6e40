#include "caffe2_core/io/blob_serialization.h"
#include "caffe2_core/runtime/net.h"
#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::index_test {
namespace {

const char* const kLoad = "type: 'IndexLoad' input: 'i' input: 'k' output: 'i'";
const char* const kGet = "type: 'IndexGet' input: 'i' input: 'k' output: 'n'";

void Create(Workspace* ws, const std::string& key, int64_t max_elements) {
  RunOp(ws, MakeString("type: '", key, "IndexCreate' output: 'i' arg { name: 'max_elements' i: ",
                       max_elements, " }"));
}
void Freeze(Workspace* ws) { RunOp(ws, "type: 'IndexFreeze' input: 'i' output: 'i'"); }
// The numbers of the keys.
template <class T>
void ExpectNumbers(Workspace* ws, const std::vector<T>& keys, const std::vector<int64_t>& want) {
  Feed<T>(ws, "k", {static_cast<int64_t>(keys.size())}, keys);
  RunOp(ws, kGet);
  ExpectTensor<int64_t>(*ws, "n", {static_cast<int64_t>(want.size())}, want);
}
template <class T>
void ExpectKeys(Workspace* ws, const std::vector<T>& want) {
  RunOp(ws, "type: 'IndexStore' input: 'i' output: 's'");
  ExpectTensor<T>(*ws, "s", {static_cast<int64_t>(want.size())}, want);
  RunOp(ws, "type: 'IndexSize' input: 'i' output: 'size'");
  ExpectTensor<int64_t>(*ws, "size", {}, {static_cast<int64_t>(want.size()) + 1});
}

// Every type of key goes through a life: it is loaded, asked, frozen, saved and restored.
template <class T>
void ExpectLifeOfIndex(const std::string& creation, T a, T b, T c, T d) {
  Workspace ws;
  Create(&ws, creation, 10);
  ExpectKeys<T>(&ws, {});
  Feed<T>(&ws, "k", {1, 2}, {a, b});
  RunOp(&ws, kLoad);
  ExpectNumbers<T>(&ws, {b, c, a, c}, {2, 3, 1, 3});
  ExpectKeys<T>(&ws, {a, b, c});
  Freeze(&ws);
  ExpectNumbers<T>(&ws, {d, c}, {0, 3});
  const std::string record = SerializeBlob(*ws.GetBlob("i"), "i");
  Create(&ws, creation, 10);
  ExpectKeys<T>(&ws, {});
  DeserializeBlob(record, ws.GetBlob("i"));
  ExpectNumbers<T>(&ws, {d, c, b, a}, {0, 3, 2, 1});
}

TEST(IndexTest, NumbersKeysFromOneUntilItIsFrozenAndSurvivesAFile) {
  ExpectLifeOfIndex<int32_t>("Int", 7, -1, 0, 5);
  ExpectLifeOfIndex<int64_t>("Long", int64_t{1} << 40, -1, 0, 5);
  ExpectLifeOfIndex<std::string>("String", "seven", "", "zero", "five");
}

TEST(IndexTest, HasARecordWithKeysLimitAndMark) {
  Workspace ws;
  Create(&ws, "Int", 3);
  Feed<int32_t>(&ws, "k", {2}, {4, 5});
  RunOp(&ws, kLoad);
  Freeze(&ws);
  BlobProto proto;
  ASSERT_TRUE(proto.ParseFromString(SerializeBlob(*ws.GetBlob("i"), "i")));
  EXPECT_EQ(proto.type(), "std::unique_ptr<caffe2::IndexBase>");
  EXPECT_EQ(proto.content(), "3 1");
  EXPECT_EQ(proto.tensor().int32_data_size(), 2);
  EXPECT_EQ(proto.tensor().int32_data(1), 5);
  proto.set_content("3");
  ExpectThrows([&] { DeserializeBlob(proto, ws.GetBlob("i")); },
               "the record of index \"i\" has the text \"3\", want two numbers");
}

TEST(IndexTest, AcceptsKeysAfterAFileIfItWasNotFrozen) {
  Workspace ws;
  Create(&ws, "Int", 7);
  Feed<int32_t>(&ws, "k", {2}, {4, 5});
  RunOp(&ws, kLoad);
  const std::string record = SerializeBlob(*ws.GetBlob("i"), "i");
  ws.RemoveBlob("i");
  DeserializeBlob(record, ws.CreateBlob("i"));
  ExpectNumbers<int32_t>(&ws, {5, 6, 4}, {2, 3, 1});
}

TEST(IndexTest, CountsNumber0AmongItsElementsExceptWhenLoaded) {
  Workspace ws;
  Create(&ws, "Int", 3);
  ExpectNumbers<int32_t>(&ws, {5, 6}, {1, 2});
  ExpectThrows([&] { ExpectNumbers<int32_t>(&ws, {7}, {3}); },
               "number of the new key \"7\", want less than max_elements");
  Feed<int32_t>(&ws, "k", {3}, {1, 2, 3});
  RunOp(&ws, kLoad);
  ExpectKeys<int32_t>(&ws, {1, 2, 3});
}

TEST(IndexTest, SkipsTheFirstEntry) {
  Workspace ws;
  Create(&ws, "Int", 10);
  const char* const skip =
      "type: 'IndexLoad' input: 'i' input: 'k' output: 'i' arg { name: 'skip_first_entry' i: 1 }";
  Feed<int32_t>(&ws, "k", {3}, {9, 8, 7});
  RunOp(&ws, skip);
  ExpectKeys<int32_t>(&ws, {8, 7});
  Feed<int32_t>(&ws, "k", {0}, {});
  ExpectThrows([&] { RunOp(&ws, skip); }, "elements of input 1 (items), want the one to skip");
}

TEST(IndexTest, LoadsAsManyKeysAsItMayHaveBesideTheSkippedEntry) {
  Workspace ws;
  Create(&ws, "Int", 2);
  const std::string skip = std::string(kLoad) + " arg { name: 'skip_first_entry' i: 1 }";
  Feed<int32_t>(&ws, "k", {3}, {9, 8, 7});
  RunOp(&ws, skip);
  ExpectKeys<int32_t>(&ws, {8, 7});
  ExpectThrows([&] { RunOp(&ws, kLoad); },
               "keys to load, want at most max_elements (got 3, want at most 2)");
  Feed<int32_t>(&ws, "k", {4}, {9, 8, 7, 6});
  ExpectThrows([&] { RunOp(&ws, skip); },
               "keys to load, want at most max_elements (got 3, want at most 2)");
  ExpectKeys<int32_t>(&ws, {8, 7});
  // The skipped entry may be a key as well; the others may not come twice.
  Feed<int32_t>(&ws, "k", {3}, {5, 5, 6});
  RunOp(&ws, skip);
  ExpectKeys<int32_t>(&ws, {5, 6});
  Feed<int32_t>(&ws, "k", {3}, {4, 3, 3});
  ExpectThrows([&] { RunOp(&ws, skip); }, "element 2 of input 1 (items) is \"3\"");
  Feed<int32_t>(&ws, "k", {1}, {4});
  RunOp(&ws, skip);
  ExpectKeys<int32_t>(&ws, {});
}

TEST(IndexTest, RejectsKeysThatDoNotFitAndKeepsItsOwn) {
  Workspace ws;
  Create(&ws, "Int", 3);
  Feed<int32_t>(&ws, "k", {2}, {4, 5});
  RunOp(&ws, kLoad);
  Feed<int64_t>(&ws, "k", {1}, {4});
  ExpectThrows([&] { RunOp(&ws, kGet); }, "input 1 has elements of type");
  ExpectThrows([&] { RunOp(&ws, kLoad); }, "input 1 has elements of type");
  Feed<int32_t>(&ws, "k", {3}, {1, 2, 1});
  ExpectThrows([&] { RunOp(&ws, kLoad); },
               "element 2 of input 1 (items) is \"1\", which comes before, too");
  Feed<int32_t>(&ws, "k", {4}, {1, 2, 3, 4});
  ExpectThrows([&] { RunOp(&ws, kLoad); }, "keys to load, want at most max_elements");
  ExpectKeys<int32_t>(&ws, {4, 5});
  ExpectThrows([&] { RunOp(&ws, "type: 'IndexFreeze' input: 'i' output: 'j'"); }, "");
}

TEST(IndexTest, KeepsTheKeysBeforeOneTooMany) {
  Workspace ws;
  Create(&ws, "Long", 3);
  Feed<int64_t>(&ws, "k", {4}, {7, 8, 9, 10});
  ExpectThrows(
      [&] { RunOp(&ws, kGet); },
      "number of the new key \"9\", want less than max_elements (got 3, want less than 3)");
  ExpectKeys<int64_t>(&ws, {7, 8});
  // What it has is still found.
  ExpectNumbers<int64_t>(&ws, {8, 7, 8}, {2, 1, 2});
  Feed<int64_t>(&ws, "k", {0}, {});
  RunOp(&ws, kLoad);
  ExpectKeys<int64_t>(&ws, {});
}

TEST(IndexTest, StaysFrozenWhenItIsLoaded) {
  Workspace ws;
  Create(&ws, "Int", 9);
  ExpectNumbers<int32_t>(&ws, {4, 5}, {1, 2});
  Freeze(&ws);
  Freeze(&ws);
  Feed<int32_t>(&ws, "k", {2}, {6, 7});
  RunOp(&ws, kLoad);
  ExpectNumbers<int32_t>(&ws, {6, 4, 7, 8}, {1, 0, 2, 0});
  ExpectKeys<int32_t>(&ws, {6, 7});
}

TEST(IndexTest, InfersTheShapesOfNumbersAndSize) {
  Workspace ws;
  Create(&ws, "Int", 10);
  FeedRange<int32_t>(&ws, "k", {2, 3});
  RunOp(&ws, kGet);
  ExpectShapeInferred(&ws, kGet);
}

}  // namespace
}  // namespace caffe2rt::test::index_test
