#include "caffe2_core/graph/drawing/repeated_blocks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "caffe2_core/base/enforce.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::repeated_blocks_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// begin, length, count
using Block = std::vector<size_t>;

std::vector<Block> BlocksOf(const std::string& text) {
  const NetDef net = ParseNet(text);
  std::vector<Block> blocks;
  for (const RepeatedBlock& block : FindRepeatedBlocks(net, NetBlobs(net)))
    blocks.push_back({block.begin, block.length, block.count});
  return blocks;
}

std::string Op(const std::string& type, const std::string& in, const std::string& out,
               const std::string& more = "") {
  return MakeString("op { type: \"", type, "\" input: \"", in, "\" output: \"", out, "\" ", more,
                    " }\n");
}

// Conv and Relu, followed by a Sum with the value before them.
std::string Residual(const std::string& in, const std::string& out, int kernel = 3) {
  return Op("Conv", in, out + "_c",
            MakeString("input: \"", out, "_w\" arg { name: \"kernel\" i: ", kernel, " }")) +
         Op("Relu", out + "_c", out + "_r") + Op("Sum", out + "_r", out, "input: \"" + in + "\"");
}

TEST(RepeatedBlocksTest, FindsBlocksWithSkipConnections) {
  EXPECT_THAT(BlocksOf(Op("Copy", "x", "a") + Residual("a", "b") + Residual("b", "c") +
                       Residual("c", "d") + Op("Softmax", "d", "y")),
              ElementsAre(Block{1, 3, 3}));
}

TEST(RepeatedBlocksTest, ComparesArguments) {
  EXPECT_THAT(BlocksOf(Residual("a", "b", 3) + Residual("b", "c", 5) + Residual("c", "d", 3)),
              IsEmpty());
  EXPECT_THAT(BlocksOf(Residual("a", "b", 3) + Residual("b", "c", 3) + Residual("c", "d", 5)),
              ElementsAre(Block{0, 3, 2}));
}

TEST(RepeatedBlocksTest, ComparesWiring) {
  // The last Sum adds the value before the first block.
  const std::string other = Op("Conv", "c", "d_c", R"(input: "w" arg { name: "kernel" i: 3 })") +
                            Op("Relu", "d_c", "d_r") + Op("Sum", "d_r", "d", "input: \"b_r\"");
  EXPECT_THAT(BlocksOf(Residual("a", "b") + Residual("b", "c") + other),
              ElementsAre(Block{0, 3, 2}));
}

TEST(RepeatedBlocksTest, NeedsEachRangeToReadFromTheOneBefore) {
  std::string net;
  for (const char* output : {"b", "c", "d", "e", "f", "g"}) net += Op("Relu", "a", output);
  EXPECT_THAT(BlocksOf(net), IsEmpty());
}

// A block may begin at several operators of a chain: it begins at the last one.
TEST(RepeatedBlocksTest, BeginsAsLateAsPossible) {
  std::string net = Op("Copy", "x", "v0");
  for (int i = 0; i < 7; ++i) {
    net += Op(i % 2 == 0 ? "Relu" : "Tanh", MakeString("v", i), MakeString("v", i + 1));
  }
  EXPECT_THAT(BlocksOf(net), ElementsAre(Block{2, 2, 3}));
}

TEST(RepeatedBlocksTest, LetsAllRangesReadFromBeforeTheFirst) {
  std::string net = Op("Copy", "x", "a") + Op("Copy", "x", "mask");
  std::string last = "a";
  for (const std::string name : {"b", "c", "d"}) {
    net += Op("Tanh", last, name + "_t") + Op("Mul", name + "_t", name, "input: \"mask\"");
    last = name;
  }
  EXPECT_THAT(BlocksOf(net), ElementsAre(Block{2, 2, 3}));
}

// The last range reads what the first one wrote, where the others read from before the block.
TEST(RepeatedBlocksTest, LeavesRangesThatReadWhatAnEarlierOneWrote) {
  const auto blocks = [](const std::string& last_mask) {
    std::string net = Op("Copy", "x", "mask") + Op("Copy", "x", "a"), last = "a";
    for (const std::string name : {"b", "c", "d"}) {
      net += Op("Tanh", last, name + "_t") +
             Op("Mul", name + "_t", name, "input: \"" + (name == "d" ? last_mask : "mask") + "\"");
      last = name;
    }
    return BlocksOf(net);
  };
  EXPECT_THAT(blocks("mask"), ElementsAre(Block{2, 2, 3}));
  EXPECT_THAT(blocks("a"), ElementsAre(Block{2, 2, 3}));  // from before the block as well
  EXPECT_THAT(blocks("b"), IsEmpty());
  EXPECT_THAT(blocks("c_t"), IsEmpty());
}

TEST(RepeatedBlocksTest, FindsBlocksInBlocks) {
  std::string net, last = "x";
  for (int stage = 0; stage < 2; ++stage) {
    for (int i = 0; i < 3; ++i) {
      const std::string name = MakeString("s", stage, "_", i);
      net += Residual(last, name);
      last = name;
    }
    net += Op("MaxPool", last, MakeString("pool", stage), "arg { name: \"kernel\" i: 2 }");
    last = MakeString("pool", stage);
  }
  EXPECT_THAT(BlocksOf(net), ElementsAre(Block{0, 10, 2}, Block{0, 3, 3}));
}

TEST(RepeatedBlocksTest, DoesNotCutABlockInTwo) {
  // Three blocks, a pool, and four blocks: no two equal ranges with a pool between them.
  std::string net, last = "x";
  for (const int count : {3, 4}) {
    for (int i = 0; i < count; ++i) {
      const std::string name = MakeString("n", count, "_", i);
      net += Residual(last, name);
      last = name;
    }
    net += Op("MaxPool", last, MakeString("pool", count), "arg { name: \"kernel\" i: 2 }");
    last = MakeString("pool", count);
  }
  EXPECT_THAT(BlocksOf(net), ElementsAre(Block{0, 3, 3}, Block{10, 3, 4}));
}

TEST(RepeatedBlocksTest, LeavesABlockWithAProjectionAlone) {
  // Without the projection, its operators would look like those of the blocks after it.
  const std::string first = Op("Conv", "a", "p", R"(input: "p_w" arg { name: "kernel" i: 1 })") +
                            Op("Conv", "a", "b_c", R"(input: "b_w" arg { name: "kernel" i: 3 })") +
                            Op("Relu", "b_c", "b_r") + Op("Sum", "b_r", "b", "input: \"p\"");
  EXPECT_THAT(BlocksOf(Op("Copy", "x", "a") + first + Residual("b", "c") + Residual("c", "d") +
                       Residual("d", "e") + Op("Softmax", "e", "y")),
              ElementsAre(Block{5, 3, 3}));
}

TEST(RepeatedBlocksTest, IgnoresWhatHidesFewOperators) {
  EXPECT_THAT(BlocksOf(Op("Relu", "x", "y") + Op("Relu", "y", "z") + Op("Relu", "z", "u")),
              IsEmpty());
  EXPECT_THAT(BlocksOf(Op("Relu", "x", "y") + Op("Relu", "y", "z") + Op("Relu", "z", "u") +
                       Op("Relu", "u", "v")),
              ElementsAre(Block{0, 1, 4}));
}

// A chain of six operators, the fourth of which differs. Two and two remain, which hide too few.
TEST(RepeatedBlocksTest, ComparesEverythingButNames) {
  const auto chain = [](const std::string& fourth, const std::string& all = "") {
    std::string net;
    for (int i = 0; i < 6; ++i) {
      net += Op("Tanh", MakeString("b", i), MakeString("b", i + 1), all + (i == 3 ? fourth : ""));
    }
    return BlocksOf(net);
  };
  EXPECT_THAT(chain(""), ElementsAre(Block{0, 1, 6}));
  EXPECT_THAT(chain("name: \"n\""), ElementsAre(Block{0, 1, 6}));
  for (const char* other :
       {"engine: \"E\"", "device_option { device_id: 1 }", "control_input: \"c\"",
        "is_gradient_op: true", "arg { name: \"a\" i: 1 }", "output: \"o\"", "input: \"x\"",
        "input: \"b0\""}) {
    EXPECT_THAT(chain(other), IsEmpty()) << other;
  }
  // Arguments of more than 4096 bytes are not compared.
  const auto text = [](size_t size) {
    return "arg { name: \"a\" s: \"" + std::string(size, 'x') + "\" }";
  };
  EXPECT_THAT(chain("", text(4000)), ElementsAre(Block{0, 1, 6}));
  EXPECT_THAT(chain("", text(4096)), IsEmpty());
  EXPECT_THAT(chain("arg { name: \"b\" i: 1 }", "arg { name: \"a\" i: 1 }"), IsEmpty());
}

TEST(RepeatedBlocksTest, ComparesTheOutputsThatAreRead) {
  const auto chain = [](int other) {
    std::string net;
    for (int i = 0; i < 6; ++i) {
      net += MakeString("op { type: \"Split\" input: \"", i == other ? "right" : "left", i,
                        "\" output: \"left", i + 1, "\" output: \"right", i + 1, "\" }");
    }
    return BlocksOf(net);
  };
  EXPECT_THAT(chain(-1), ElementsAre(Block{0, 1, 6}));
  EXPECT_THAT(chain(0), ElementsAre(Block{0, 1, 6}));  // it comes from outside
  EXPECT_THAT(chain(1), ElementsAre(Block{1, 1, 5}));
  EXPECT_THAT(chain(3), ElementsAre(Block{0, 3, 2}));  // the first range reads from before
  EXPECT_THAT(chain(4), ElementsAre(Block{0, 1, 4}));
  EXPECT_THAT(chain(5), ElementsAre(Block{0, 1, 5}));
}

TEST(RepeatedBlocksTest, EndsOnLargeNets) {
  NetDef net;
  for (int i = 0; i < 20000; ++i) {
    OperatorDef* op = net.add_op();
    op->set_type(i % 7 == 0 ? "Relu" : "Tanh");
    op->add_input(i == 0 ? "x" : MakeString("b", i - 1));
    op->add_output(MakeString("b", i));
  }
  const auto blocks = FindRepeatedBlocks(net, NetBlobs(net));
  ASSERT_FALSE(blocks.empty());
  for (const RepeatedBlock& block : blocks) EXPECT_LE(block.end(), 20000u);
}

TEST(RepeatedBlocksTest, FindsThePositionOfAnOperator) {
  const std::vector<RepeatedBlock> blocks = {{.begin = 2, .length = 10, .count = 3},
                                             {.begin = 4, .length = 2, .count = 4}};
  const FoldedPosition before = PositionIn(blocks, 1);
  EXPECT_EQ(before.first, 1u);
  EXPECT_THAT(before.steps, IsEmpty());
  // 2 + 10 + (4 - 2) + 2 * 2 + 1: in range 1 of the outer block, and range 2 of the inner block.
  const FoldedPosition inner = PositionIn(blocks, 19);
  EXPECT_EQ(inner.first, 5u);
  ASSERT_EQ(inner.steps.size(), 2u);
  EXPECT_EQ(inner.steps[0].range, 1u);
  EXPECT_EQ(inner.steps[1].range, 2u);
  // Before the inner block of the last range, at its end, and after the outer block.
  const FoldedPosition last = PositionIn(blocks, 23);
  EXPECT_EQ(last.first, 3u);
  ASSERT_EQ(last.steps.size(), 1u);
  EXPECT_EQ(last.steps[0].block, 0u);
  EXPECT_EQ(last.steps[0].range, 2u);
  const FoldedPosition end = PositionIn(blocks, 31);
  EXPECT_EQ(end.first, 5u);
  ASSERT_EQ(end.steps.size(), 2u);
  EXPECT_EQ(end.steps[1].block, 1u);
  EXPECT_EQ(end.steps[1].range, 3u);
  EXPECT_EQ(PositionIn(blocks, 2).first, 2u);
  EXPECT_EQ(PositionIn(blocks, 2).steps.size(), 1u);
  EXPECT_EQ(PositionIn(blocks, 4).steps.size(), 2u);
  EXPECT_EQ(PositionIn(blocks, 32).first, 32u);
  EXPECT_THAT(PositionIn(blocks, 32).steps, IsEmpty());
}

}  // namespace
}  // namespace caffe2rt::test::repeated_blocks_test
