#include <limits>

#include "caffe2_core/runtime/net.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::sparse_to_dense_mask_test {
namespace {

constexpr char kMask[] = "arg { name: 'mask' ints: 9 ints: 2 ints: 6 } ";
constexpr char kInputs[] =
    "type: 'SparseToDenseMask' input: 'i' input: 'v' input: 'd' input: 'l' output: 'y' ";

class SparseToDenseMaskTest : public testing::Test {
 protected:
  void SetUp() override {
    Feed<int32_t>(&ws_, "i", {7}, {2, 4, 6, 1, 2, 9, 2});
    Feed<float>(&ws_, "v", {7}, {1, 2, 3, 4, 5, 6, 7});
    Feed<float>(&ws_, "d", {}, {-1});
    Feed<int32_t>(&ws_, "l", {2}, {3, 4});
  }

  Workspace ws_;
};

TEST_F(SparseToDenseMaskTest, HasAColumnForEachIdOfTheMask) {
  RunOp(&ws_, MakeString(kInputs, kMask));
  // the last value of id 2 counts
  ExpectTensor<float>(ws_, "y", {2, 3}, {-1, 1, 3, 6, 7, -1});
  ExpectShapeInferred(&ws_, MakeString(kInputs, kMask));
}

TEST_F(SparseToDenseMaskTest, ReturnsWhichColumnsHaveAValue) {
  const std::string op =
      MakeString(kInputs, "output: 'p' ", kMask, "arg { name: 'return_presence_mask' i: 1 }");
  RunOp(&ws_, op);
  ExpectTensor<bool>(ws_, "p", {2, 3}, {false, true, true, true, true, false});
  ExpectShapeInferred(&ws_, op);
}

// As recorded from the original.
TEST_F(SparseToDenseMaskTest, LeavesAPresenceThatIsNotWantedEmpty) {
  RunOp(&ws_, MakeString(kInputs, "output: 'p' ", kMask));
  ExpectTensor<float>(ws_, "y", {2, 3}, {-1, 1, 3, 6, 7, -1});
  EXPECT_TRUE(ws_.GetBlob("p")->IsType<Tensor>());
}

TEST_F(SparseToDenseMaskTest, HasOneRowWithoutLengths) {
  const std::string op =
      MakeString("type: 'SparseToDenseMask' input: 'i' input: 'v' input: 'd' output: 'y' ", kMask);
  RunOp(&ws_, op);
  ExpectTensor<float>(ws_, "y", {3}, {6, 7, 3});
  ExpectShapeInferred(&ws_, op);
}

TEST_F(SparseToDenseMaskTest, AcceptsBlocksStringsAndEmptyRows) {
  Feed<int64_t>(&ws_, "i", {2}, {6, 9});
  Feed<std::string>(&ws_, "v", {2, 2}, {"a", "b", "c", "d"});
  Feed<std::string>(&ws_, "d", {2}, {"x", "y"});
  Feed<int32_t>(&ws_, "l", {2}, {0, 2});
  RunOp(&ws_, MakeString(kInputs, kMask));
  ExpectTensor<std::string>(ws_, "y", {2, 3, 2},
                            {"x", "y", "x", "y", "x", "y", "c", "d", "x", "y", "a", "b"});
}

TEST_F(SparseToDenseMaskTest, SkipsSomeInvalidIdsInAllItsRuns) {
  Feed<int32_t>(&ws_, "i", {7}, {2, 4, 6, -1, 2, 9, 2});
  OperatorDef def = ParseOp(MakeString(kInputs, kMask, "arg { name: 'max_skipped_indices' i: 3 }"));
  NetDef net;
  *net.add_op() = def;
  net.set_name("n");
  NetBase* const created = ws_.CreateNet(net);
  EXPECT_TRUE(created->Run());
  EXPECT_TRUE(created->Run());
  ExpectThrows([&] { created->Run(); }, "invalid ids that were skipped, the last one -1");
}

// Ids below 0 and the largest number of their type count, the mask's neighbours do not.
template <class Id>
void ExpectSkipped(Workspace* ws, Id id, bool counts) {
  SCOPED_TRACE(id);
  Feed<Id>(ws, "i", {7}, {2, 4, id, 6, 2, id, 2});
  const auto run = [&](int most) {
    // A single run, as an operator counts over all of its runs.
    ws->RunOperatorOnce(
        ParseOp(MakeString(kInputs, kMask, "arg { name: 'max_skipped_indices' i: ", most, " }")));
  };
  run(3);
  const std::vector<float> want = Fetch<float>(*ws, "y");
  if (counts) {
    ExpectThrows([&] { run(2); }, MakeString("invalid ids that were skipped, the last one ", id));
  } else {
    run(1);
  }
  Feed<Id>(ws, "i", {7}, {2, 4, 1, 6, 2, 1, 2});  // another id that the mask does not have
  run(1);
  EXPECT_EQ(Fetch<float>(*ws, "y"), want);
}

TEST_F(SparseToDenseMaskTest, CountsNegativeIdsAndTheLargestAsInvalid) {
  ExpectSkipped<int32_t>(&ws_, -1, true);
  ExpectSkipped<int32_t>(&ws_, std::numeric_limits<int32_t>::min(), true);
  ExpectSkipped<int32_t>(&ws_, std::numeric_limits<int32_t>::max(), true);
  ExpectSkipped<int32_t>(&ws_, std::numeric_limits<int32_t>::max() - 1, false);
  ExpectSkipped<int32_t>(&ws_, 0, false);
  ExpectSkipped<int64_t>(&ws_, -1, true);
  ExpectSkipped<int64_t>(&ws_, std::numeric_limits<int64_t>::max(), true);
  ExpectSkipped<int64_t>(&ws_, std::numeric_limits<int64_t>::max() - 1, false);
  ExpectSkipped<int64_t>(&ws_, std::numeric_limits<int32_t>::max(), false);
}

TEST_F(SparseToDenseMaskTest, GivesTheGradientToTheLastValueOfAnId) {
  Feed<float>(&ws_, "g", {2, 3}, {10, 20, 30, 40, 50, 60});
  RunOp(&ws_, MakeString("type: 'SparseToDenseMaskGradient' input: 'i' input: 'g' input: 'l' "
                         "output: 'dv' ",
                         kMask));
  ExpectTensor<float>(ws_, "dv", {7}, {20, 0, 30, 0, 0, 40, 50});
  ExpectShapeInferred(
      &ws_,
      MakeString("type: 'SparseToDenseMaskGradient' input: 'i' input: 'g' input: 'l' output: 'dv' ",
                 kMask));
}

TEST_F(SparseToDenseMaskTest, RejectsInputsThatDoNotFit) {
  ExpectThrows([&] { RunOp(&ws_, kInputs); }, "is empty, want ids");
  ExpectThrows([&] { RunOp(&ws_, MakeString(kInputs, "arg { name: 'mask' ints: 2 ints: 2 }")); },
               "has 2 twice");
  Feed<float>(&ws_, "g", {2, 3}, {1, 2, 3, 4, 5, 6});
  for (const char* ids : {"ints: -1", "ints: 2 ints: -3"}) {
    for (const char* op : {kInputs,
                           "type: 'SparseToDenseMaskGradient' input: 'i' input: 'g' input: "
                           "'l' output: 'dv' "}) {
      ExpectThrows([&] { RunOp(&ws_, MakeString(op, "arg { name: 'mask' ", ids, " }")); },
                   "want ids of at least 0");
    }
  }
  Feed<int32_t>(&ws_, "l", {2}, {3, 3});
  ExpectThrows([&] { RunOp(&ws_, MakeString(kInputs, kMask)); }, "sum of input 3 (lengths)");
  Feed<int32_t>(&ws_, "l", {2}, {8, -1});
  ExpectThrows([&] { RunOp(&ws_, MakeString(kInputs, kMask)); }, "want at least 0");
  Feed<int32_t>(&ws_, "l", {2}, {3, 4});
  Feed<float>(&ws_, "d", {1}, {-1});
  ExpectThrows([&] { RunOp(&ws_, MakeString(kInputs, kMask)); }, "input 2 (default_value)");
  Feed<float>(&ws_, "v", {6}, {1, 2, 3, 4, 5, 6});
  ExpectThrows([&] { RunOp(&ws_, MakeString(kInputs, kMask)); }, "want 7 rows");
  Feed<float>(&ws_, "i", {7}, {1, 2, 3, 4, 5, 6, 7});
  ExpectThrows([&] { RunOp(&ws_, MakeString(kInputs, kMask)); }, "want int32 or int64");
}

}  // namespace
}  // namespace caffe2rt::test::sparse_to_dense_mask_test
