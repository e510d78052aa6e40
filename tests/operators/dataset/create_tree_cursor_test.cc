#include "caffe2_core/graph/nested_nets.h"
#include "caffe2_core/io/blob_serialization.h"
#include "operators/dataset/tree_cursor.h"
#include "tests/operators/dataset/dataset.h"
#include "tests/support/gradient_test.h"

namespace caffe2rt::test::create_tree_cursor_test {
namespace {

std::vector<size_t> DomainsOf(const std::vector<std::string>& names) {
  const DatasetFields fields(names);
  std::vector<size_t> domains;
  for (size_t i = 0; i < fields.size(); ++i) domains.push_back(fields.domain(i));
  return domains;
}

TEST(DatasetFieldsTest, AreSplitByTheLengthsWithTheLongestPrefix) {
  using Domains = std::vector<size_t>;
  EXPECT_EQ(DomainsOf({}), Domains{});
  EXPECT_EQ(DomainsOf({"a", "b"}), (Domains{0, 0}));
  EXPECT_EQ(DomainsOf({"a:lengths", "a:values", "b"}), (Domains{0, 1, 0}));
  EXPECT_EQ(DomainsOf({"a:lengths", "a:values:lengths", "a:values:values", "a:keys"}),
            (Domains{0, 1, 2, 1}));
  EXPECT_EQ(DomainsOf({"a:lengths", "a", "ab", "a:b:c", "a::c"}), (Domains{0, 1, 0, 1, 1}));
  EXPECT_EQ(DomainsOf({"a:b:lengths", "a:values", "a:b"}), (Domains{0, 0, 1}));
  EXPECT_EQ(DomainsOf({":lengths", ":values", "b"}), (Domains{0, 1, 0}));
  EXPECT_EQ(DomainsOf({"lengths", "a"}), (Domains{0, 0}));
  EXPECT_EQ(DomainsOf({"a_lengths", "a:xlengths", "a:lengths:b", "a"}), (Domains{0, 0, 0, 0}));
  EXPECT_EQ(DomainsOf({"", ":"}), (Domains{0, 0}));
}

TEST(DatasetFieldsTest, ComeAfterTheLengthsThatSplitThem) {
  ExpectThrows(
      [] {
        DomainsOf({"a:values", "a:lengths"});
      },
      "position of field \"a:lengths\", want it before field \"a:values\"");
  ExpectThrows([] { DomainsOf({"a:lengths", "a:lengths"}); }, "position of field");
}

TEST(CreateTreeCursorTest, ReportsItsPosition) {
  Workspace ws;
  FeedLists(&ws);
  CreateListCursor(&ws);
  RunOp(&ws, "type: 'GetCursorOffset' input: 'cursor' output: 'p'");
  ExpectTensor<int32_t>(ws, "p", {0}, {});
  RunOp(&ws,
        "type: 'ReadNextBatch' input: 'cursor' input: 'l' input: 'v' input: 'b' output: 'l1' "
        "output: 'v1' output: 'b1' arg { name: 'batch_size' i: 2 }");
  RunOp(&ws, "type: 'GetCursorOffset' input: 'cursor' output: 'p'");
  ExpectTensor<int32_t>(ws, "p", {2}, {2, 3});
  RunOp(&ws, "type: 'ResetCursor' input: 'cursor'");
  RunOp(&ws, "type: 'GetCursorOffset' input: 'cursor' output: 'p'");
  ExpectTensor<int32_t>(ws, "p", {0}, {});
}

TEST(CreateTreeCursorTest, IsSavedAndLoadedWithItsPosition) {
  Workspace ws;
  FeedLists(&ws);
  CreateListCursor(&ws);
  BlobProto at_begin;
  ASSERT_TRUE(at_begin.ParseFromString(SerializeBlob(*ws.GetBlob("cursor"), "cursor")));
  EXPECT_EQ(at_begin.type(), "std::unique_ptr<TreeCursor>");
  EXPECT_EQ(at_begin.content(), "a:lengths a:values b ");
  EXPECT_FALSE(at_begin.has_tensor());
  RunOp(&ws,
        "type: 'ReadNextBatch' input: 'cursor' input: 'l' input: 'v' input: 'b' output: 'l1' "
        "output: 'v1' output: 'b1' arg { name: 'batch_size' i: 2 }");
  const std::string record = SerializeBlob(*ws.GetBlob("cursor"), "cursor");
  DeserializeBlob(record, ws.CreateBlob("cursor"));
  RunOp(&ws, "type: 'GetCursorOffset' input: 'cursor' output: 'p'");
  ExpectTensor<int32_t>(ws, "p", {2}, {2, 3});
  DeserializeBlob(at_begin, ws.CreateBlob("cursor"));
  RunOp(&ws, "type: 'GetCursorOffset' input: 'cursor' output: 'p'");
  ExpectTensor<int32_t>(ws, "p", {0}, {});
}

TEST(CreateTreeCursorTest, RejectsABlobWithoutCursor) {
  Workspace ws;
  Feed<float>(&ws, "cursor", {1}, {1});
  ExpectThrows([&] { RunOp(&ws, "type: 'ResetCursor' input: 'cursor'"); }, "input 0");
  ws.CreateBlob("cursor")->GetMutable<TreeCursorBlob>();
  ExpectThrows([&] { RunOp(&ws, "type: 'ResetCursor' input: 'cursor'"); },
               "input 0 (cursor) holds no cursor");
  ExpectThrows([] { DescribeGradient("type: 'CreateTreeCursor' output: 'cursor'"); },
               "One should not call gradient");
}

// Two operators that share a cursor must not change places.
TEST(CreateTreeCursorTest, ResettingCountsAsAWriteOfTheCursor) {
  const NestedBlobs blobs =
      BlobsOf(test::ParseNet(R"(op { type: "ResetCursor" input: "cursor" })"));
  EXPECT_EQ(blobs.written, std::vector<std::string>{"cursor"});
}

}  // namespace
}  // namespace caffe2rt::test::create_tree_cursor_test
