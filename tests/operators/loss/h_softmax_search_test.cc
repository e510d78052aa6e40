#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "caffe2_core/io/proto_file.h"
#include "caffe2rt/hsm.pb.h"
#include "tests/operators/common/call_tables.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::h_softmax_search_test {
namespace {

// The root has rows 0 and 1: a node with rows 2 and 3, and word 3.
constexpr char kTree[] = R"(root_node {
  name: "root" offset: 0 word_ids: 3
  children { name: "inner" offset: 2 word_ids: -1 word_ids: 2 } })";

std::string Serialized(const std::string& text) {
  TreeProto tree;
  ParseTextProto(text, "the tree", &tree);
  return tree.SerializeAsString();
}

void RunSearch(Workspace* ws, const std::string& tree, float beam, int top) {
  OperatorDef def = ParseOp(
      "type: 'HSoftmaxSearch' input: 'X' input: 'W' input: 'b' output: 'names' output: 'scores'");
  AddArgument("tree", tree, &def);
  AddArgument("beam", beam, &def);
  AddArgument("topN", top, &def);
  ASSERT_TRUE(ws->RunOperatorOnce(def));
}

// Row 0 has a weight of x, and bias log 3: for an x of 0, the probabilities are 3/4 and 1/4. Below
// the node they are 1/5 and 4/5.
void FeedWeights(Workspace* ws, const std::vector<float>& x) {
  Feed<float>(ws, "X", {static_cast<int64_t>(x.size()), 1}, x);
  Feed<float>(ws, "W", {4, 1}, {1, 0, 0, 0});
  Feed<float>(ws, "b", {4}, {std::log(3.0f), 0, 0, std::log(4.0f)});
}
const float kInner = std::log(4.0f / 3), kWord3 = std::log(4.0f), kWord2 = std::log(5.0f / 3),
            kWordMinus1 = std::log(20.0f / 3);

TEST(HSoftmaxSearchTest, OrdersNodesAndWordsByTheirScores) {
  Workspace ws;
  // For an x of -log 9, the probabilities at the root are 1/4 and 3/4.
  FeedWeights(&ws, {0, -std::log(9.0f)});
  RunSearch(&ws, Serialized(kTree), 5, 5);
  ExpectTensor<std::string>(ws, "names", {2, 5},
                            {"inner", "2", "3", "-1", "", "3", "inner", "2", "-1", ""});
  ExpectTensor<float>(
      ws, "scores", {2, 5},
      {kInner, kWord2, kWord3, kWordMinus1, 0, kInner, kWord3, std::log(5.0f), std::log(20.0f), 0},
      1e-6);
  RunSearch(&ws, Serialized(kTree), 5, 2);
  ExpectTensor<std::string>(ws, "names", {2, 2}, {"inner", "2", "3", "inner"});
  RunSearch(&ws, Serialized(kTree), 5, 0);
  ExpectTensor<std::string>(ws, "names", {2, 0}, {});
  ExpectTensor<float>(ws, "scores", {2, 0}, {});
  FeedWeights(&ws, {});
  RunSearch(&ws, Serialized(kTree), 5, 2);
  ExpectTensor<float>(ws, "scores", {0, 2}, {});
}

// The beam limits the surprise of an entry within its node, not the score.
TEST(HSoftmaxSearchTest, FollowsEntriesWithinTheBeam) {
  Workspace ws;
  FeedWeights(&ws, {0});
  RunSearch(&ws, Serialized(kTree), 0.25f, 2);
  ExpectTensor<std::string>(ws, "names", {1, 2}, {"", ""});
  RunSearch(&ws, Serialized(kTree), 0.3f, 4);
  ExpectTensor<std::string>(ws, "names", {1, 4}, {"inner", "2", "", ""});
  RunSearch(&ws, Serialized(kTree), 1.5f, 4);
  ExpectTensor<std::string>(ws, "names", {1, 4}, {"inner", "2", "3", ""});
  RunSearch(&ws, Serialized("root_node { name: '' offset: 3 word_ids: 8 }"), 0, 1);
  ExpectTensor<std::string>(ws, "names", {1, 1}, {""});
  RunSearch(&ws, Serialized("root_node { name: '' offset: 3 word_ids: 8 }"), 0.1f, 1);
  ExpectTensor<std::string>(ws, "names", {1, 1}, {"8"});
  FeedWeights(&ws, {std::numeric_limits<float>::quiet_NaN()});
  RunSearch(&ws, Serialized(kTree), 100, 1);
  ExpectTensor<std::string>(ws, "names", {1, 1}, {""});
}

// Recorded from Caffe2.
TEST(HSoftmaxSearchTest, OrdersEqualScoresAsCaffe2) {
  Workspace ws;
  Feed<float>(&ws, "X", {1}, {0});
  Feed<float>(&ws, "W", {7, 1}, std::vector<float>(7));
  Feed<float>(&ws, "b", {7}, std::vector<float>(7));
  const std::string tree = Serialized(R"(root_node { name: "root" offset: 0
    children { name: "a" offset: 2 word_ids: 0 word_ids: 1 }
    children { name: "b" offset: 4 word_ids: 2 word_ids: 3 word_ids: 4 } })");
  RunSearch(&ws, tree, 50, 7);
  ExpectTensor<std::string>(ws, "names", {1, 7}, {"b", "a", "1", "0", "2", "3", "4"});
  RunSearch(&ws, tree, 50, 3);
  ExpectTensor<std::string>(ws, "names", {1, 3}, {"a", "b", "0"});
}

TEST(HSoftmaxSearchTest, InfersShapes) {
  ExpectInferred(
      {{"HSoftmaxSearch X W b -> N S tree=t topN=4", "X f 5,3; W f 9,3; b f 9",
        "string [5, 4]; float [5, 4]"},
       {"HSoftmaxSearch X W b -> N S tree=t", "X f 3; W f 9,3; b f 9",
        "string [1, 5]; float [1, 5]"},
       {"HSoftmaxSearch X W b -> N S tree=t", "X f ?; W f 9,3; b f 9", "string ?; float ?"}});
}

// A tree whose nodes have one child each.
std::string Chain(int levels) {
  TreeProto tree;
  NodeProto* node = tree.mutable_root_node();
  for (int i = 0; i < levels; ++i) {
    node->set_name("n");
    node->set_offset(0);
    if (i + 1 < levels) node = node->add_children();
  }
  node->add_word_ids(1);
  return tree.SerializeAsString();
}

TEST(HSoftmaxSearchTest, RejectsTreesThatAreInvalid) {
  struct Row {
    std::string tree, part;
  };
  const std::vector<Row> rows = {
      {"\xff", "argument \"tree\" does not hold a caffe2rt.TreeProto"},
      {Chain(101), "argument \"tree\" does not hold a caffe2rt.TreeProto"},
      {"", "node 0 of argument tree, breadth first, has no name"},
      {Serialized("root_node { name: 'r' word_ids: 1 }"),
       "node 0 of argument tree, breadth first, "
       "has no offset"},
      {Serialized("root_node { name: 'r' offset: 0 word_ids: 1 children { offset: 2 } }"),
       "node 1 of argument tree, breadth first, has no name"},
      {Serialized("root_node { name: 'r' offset: -1 word_ids: 1 }"),
       "node \"r\" of argument tree has offset -1, 0 children and 1 words, want an offset of at "
       "least 0, and an entry"},
      {Serialized("root_node { name: 'r' offset: 0 }"), "has offset 0, 0 children and 0 words"},
      {Serialized("root_node { name: 'r' offset: 3 word_ids: 1 word_ids: 2 }"),
       "rows of input 1 (W) that argument tree needs: got 5, want at most 4"},
      {Serialized("root_node { name: 'r' offset: 2147483647 word_ids: 1 word_ids: 2 }"),
       "argument tree needs: got 2147483649, want at most 4"}};
  for (const Row& row : rows) {
    SCOPED_TRACE(row.part);
    Workspace ws;
    FeedWeights(&ws, {0});
    ExpectThrows([&] { RunSearch(&ws, row.tree, 1, 1); }, row.part);
  }
  Workspace ws;
  FeedWeights(&ws, {0});
  RunSearch(&ws, Chain(100), 1, 2);
  ExpectTensor<std::string>(ws, "names", {1, 2}, {"n", "n"});
  ExpectThrows([&] { RunSearch(&ws, Chain(1), 1, -1); },
               "argument \"topN\" is -1, want at least 0");
  Feed<float>(&ws, "b", {5}, std::vector<float>(5));
  ExpectThrows([&] { RunSearch(&ws, Chain(1), 1, 1); }, "input 2 (b) has shape [5], want [4]");
}

}  // namespace
}  // namespace caffe2rt::test::h_softmax_search_test
