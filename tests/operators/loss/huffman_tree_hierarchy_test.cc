#include <string>
#include <vector>

#include "caffe2rt/hsm.pb.h"
#include "tests/operators/common/call_tables.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::huffman_tree_hierarchy_test {
namespace {

OperatorDef HuffmanOp(int classes) {
  OperatorDef def = ParseOp("type: 'HuffmanTreeHierarchy' input: 'L' output: 'T'");
  AddArgument("num_classes", classes, &def);
  return def;
}

// The tree of classes that have these numbers of labels.
std::string TreeOf(const std::vector<int64_t>& counts) {
  std::vector<int64_t> labels;
  for (size_t i = 0; i < counts.size(); ++i) {
    labels.insert(labels.end(), static_cast<size_t>(counts[i]), static_cast<int64_t>(i));
  }
  Workspace ws;
  Feed<int64_t>(&ws, "L", {static_cast<int64_t>(labels.size())}, labels);
  ws.RunOperatorOnce(HuffmanOp(static_cast<int>(counts.size())));
  TreeProto tree;
  EXPECT_EQ(DimsOf(ws, "T"), std::vector<int64_t>{1});
  EXPECT_TRUE(tree.ParseFromString(Fetch<std::string>(ws, "T").at(0)));
  return tree.ShortDebugString();
}

TEST(HuffmanTreeHierarchyTest, MergesTheClassesWithTheFewestLabels) {
  // 0 and 2 become a node with two labels.
  EXPECT_EQ(TreeOf({1, 3, 1}),
            "root_node { children { word_ids: 0 word_ids: 2 offset: 2 } word_ids: 1 offset: 0 }");
  EXPECT_EQ(TreeOf({2, 1}), "root_node { word_ids: 1 word_ids: 0 offset: 0 }");
  EXPECT_EQ(TreeOf({7}), "root_node { offset: 0 }");
  EXPECT_EQ(TreeOf({0}), "root_node { offset: 0 }");
  // 0 and 1 (3 labels), with 2 (6), 3 and 4 (9), 5 and the six (12). A row is left out behind 4.
  EXPECT_EQ(TreeOf({1, 2, 3, 4, 5, 6}),
            "root_node { children { word_ids: 3 word_ids: 4 offset: 2 } "
            "children { children { children { word_ids: 0 word_ids: 1 offset: 9 } word_ids: 2 "
            "offset: 7 } word_ids: 5 offset: 5 } offset: 0 }");
}

// Recorded from Caffe2.
TEST(HuffmanTreeHierarchyTest, OrdersEqualCountsAsCaffe2) {
  EXPECT_EQ(TreeOf({1, 1, 1, 1}),
            "root_node { children { word_ids: 0 word_ids: 2 offset: 2 } "
            "children { word_ids: 1 word_ids: 3 offset: 5 } offset: 0 }");
  EXPECT_EQ(TreeOf({1, 1, 1, 1, 1, 1, 1}),
            "root_node { children { children { word_ids: 0 word_ids: 2 offset: 4 } word_ids: 4 "
            "offset: 2 } children { children { word_ids: 5 word_ids: 6 offset: 9 } "
            "children { word_ids: 1 word_ids: 3 offset: 12 } offset: 7 } offset: 0 }");
  EXPECT_EQ(TreeOf({0, 0, 0}),
            "root_node { children { word_ids: 0 word_ids: 1 offset: 2 } word_ids: 2 offset: 0 }");
}

TEST(HuffmanTreeHierarchyTest, InfersOneString) {
  ExpectInferred({{"HuffmanTreeHierarchy L -> T num_classes=3", "L l 7", "string [1]"},
                  {"HuffmanTreeHierarchy L -> T num_classes=3", "L l ?", "string [1]"}});
}

TEST(HuffmanTreeHierarchyTest, RejectsInvalidCalls) {
  ExpectRejected({
      {"HuffmanTreeHierarchy L -> T num_classes=3", "L l 2 = 0,3",
       "element 1 of input 0 (Labels) is 3, want 0 to below 3"},
      {"HuffmanTreeHierarchy L -> T num_classes=3", "L l 2 = 0,-1",
       "element 1 of input 0 (Labels) is -1, want 0 to below 3"},
      {"HuffmanTreeHierarchy L -> T num_classes=3", "L l 2,1 = 0",
       "rank of input 0 (Labels) of shape [2, 1]: got 2, want 1"},
      {"HuffmanTreeHierarchy L -> T num_classes=0", "L l 2 = 0",
       "argument \"num_classes\" is 0, want at least 1"},
      // The classes without labels form a chain of nodes.
      {"HuffmanTreeHierarchy L -> T num_classes=2000", "L l 1 = 0",
       "levels of the tree, which many classes without labels make deep: got 101, want at most "
       "100"},
      {"HuffmanTreeHierarchy L -> T num_classes=2147483647", "L l 1 = 0",
       "classes of argument num_classes without labels: got 2147483646, want at most 65536"},
  });
  Workspace ws;
  Feed<int32_t>(&ws, "L", {1}, {0});
  ExpectThrows([&] { ws.RunOperatorOnce(HuffmanOp(1)); }, "int32");
  ExpectThrows(
      [&] { ws.RunOperatorOnce(ParseOp("type: 'HuffmanTreeHierarchy' input: 'L' output: 'T'")); },
      "num_classes");
}

}  // namespace
}  // namespace caffe2rt::test::huffman_tree_hierarchy_test
