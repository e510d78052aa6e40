#include "tests/operators/dataset/dataset.h"
#include "tests/support/gradient_test.h"

namespace caffe2rt::test::pack_records_test {
namespace {

constexpr char kUnPack[] =
    "type: 'UnPackRecords' input: 'p' output: 'l1' output: 'v1' output: 'b1'";

class PackRecordsTest : public testing::TestWithParam<int> {
 protected:
  PackRecordsTest() { FeedLists(&ws_); }
  void Pack() {
    RunOp(&ws_, MakeString("type: 'PackRecords' input: 'l' input: 'v' input: 'b' output: 'p' arg { "
                           "name: 'pack_to_single_shared_ptr' i: ",
                           GetParam(), " }", kListFields));
  }
  void UnPack(const std::string& rest = "") { RunOp(&ws_, MakeString(kUnPack, kListFields, rest)); }
  Workspace ws_;
};

TEST_P(PackRecordsTest, IsUndoneByUnPackRecords) {
  FeedRange<float>(&ws_, "v", {6, 2});
  Pack();
  EXPECT_EQ(DimsOf(ws_, "p"), std::vector<int64_t>{GetParam() == 1 ? 1 : 4});
  UnPack();
  ExpectTensor<int32_t>(ws_, "l1", {4}, {1, 2, 0, 3});
  ExpectTensor<float>(ws_, "v1", {6, 2}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  ExpectTensor<int64_t>(ws_, "b1", {4}, {1, 2, 3, 4});
}

TEST_P(PackRecordsTest, NeedsPrototypesWithoutRecords) {
  Feed<int32_t>(&ws_, "l", {0}, {});
  Feed<float>(&ws_, "v", {0, 2}, {});
  Feed<int64_t>(&ws_, "b", {0}, {});
  Pack();
  ExpectThrows([&] { UnPack(); }, "input 0 (packed) has no records");
  UnPack(" input: 'l' input: 'v' input: 'b'");
  ExpectTensor<int32_t>(ws_, "l1", {0}, {});
  ExpectTensor<float>(ws_, "v1", {0, 2}, {});
}

TEST_P(PackRecordsTest, RejectsWhatDoesNotFit) {
  Pack();
  ExpectThrows([&] { UnPack(" input: 'l' input: 'b' input: 'v'"); }, "as in its prototype");
  ExpectThrows([&] { UnPack(" input: 'l'"); }, "inputs are 2, want 1, or 4");
  ExpectThrows([&] { UnPack(" output: 'z'"); }, "outputs, want one for each name");
  ExpectThrows(
      [&] { RunOp(&ws_, "type: 'UnPackRecords' input: 'p' output: 'x'" + FieldsArgument({"x"})); },
      "fields of record 0");
  Feed<int32_t>(&ws_, "l", {4}, {1, 2, 0, 4});
  ExpectThrows([&] { Pack(); }, "lengths in field \"a:lengths\" reach row 7");
  ExpectThrows(
      [&] { RunOp(&ws_, MakeString("type: 'PackRecords' input: 'l' output: 'p'", kListFields)); },
      "inputs, want one for each name");
}
INSTANTIATE_TEST_SUITE_P(Single, PackRecordsTest, testing::Values(0, 1));

TEST(UnPackRecordsTest, CopiesATensorThatIsNotPacked) {
  Workspace ws;
  Feed<float>(&ws, "p", {2}, {1, 2});
  RunOp(&ws, "type: 'UnPackRecords' input: 'p' output: 'x'" + FieldsArgument({"x"}));
  ExpectTensor<float>(ws, "x", {2}, {1, 2});
  ExpectThrows(
      [&] {
        RunOp(&ws, "type: 'UnPackRecords' input: 'p' output: 'x' output: 'y'" +
                       FieldsArgument({"x", "y"}));
      },
      "because input 0 is not packed");
  ExpectThrows([] { DescribeGradient("type: 'PackRecords' input: 'x' output: 'p'"); },
               "One should not call gradient");
}

}  // namespace
}  // namespace caffe2rt::test::pack_records_test
