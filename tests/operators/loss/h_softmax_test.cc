#include <cmath>
#include <string>
#include <vector>

#include "caffe2rt/hsm.pb.h"
#include "tests/operators/common/call_tables.h"
#include "tests/operators/common/long_calls.h"
#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::h_softmax_test {
namespace {

struct PathNode {
  int index, length, target;
};
struct WordPath {
  int word;
  std::vector<PathNode> nodes;
};

std::string Serialized(const std::vector<WordPath>& paths) {
  HierarchyProto hierarchy;
  for (const WordPath& path : paths) {
    PathProto* const proto = hierarchy.add_paths();
    proto->set_word_id(path.word);
    for (const PathNode& node : path.nodes) {
      PathNodeProto* const added = proto->add_path_nodes();
      added->set_index(node.index);
      added->set_length(node.length);
      added->set_target(node.target);
    }
  }
  return hierarchy.SerializeAsString();
}

// The root has rows 0 and 1: a node with rows 2, 3 and 4, which are words 1, 2 and 3, and word 7.
const std::vector<WordPath>& TwoNodes() {
  static const std::vector<WordPath> paths = {{1, {{0, 2, 0}, {2, 3, 0}}},
                                              {2, {{0, 2, 0}, {2, 3, 1}}},
                                              {3, {{0, 2, 0}, {2, 3, 2}}},
                                              {7, {{0, 2, 1}}}};
  return paths;
}

void RunWithPaths(Workspace* ws, const std::string& text, const std::string& hierarchy) {
  OperatorDef def = ParseOp(text);
  AddArgument("hierarchy", hierarchy, &def);
  ASSERT_TRUE(ws->RunOperatorOnce(def));
}
constexpr char kLoss[] =
    "type: 'HSoftmax' input: 'X' input: 'W' input: 'b' input: 'l' output: 'Y' output: 'I'";
constexpr char kGradient[] =
    "type: 'HSoftmaxGradient' input: 'X' input: 'W' input: 'b' input: 'l' input: 'I' input: 'G' "
    "output: 'dX' output: 'dW' output: 'db' output: 'dI'";

const float kLog2 = std::log(2.0f), kLog3 = std::log(3.0f), kLog4 = std::log(4.0f);

void FeedWeights(Workspace* ws) {
  // Row 0 has a logit of 0 for both samples, and row 3 one of log 2 for the first.
  Feed<float>(ws, "X", {2, 2}, {1, 2, 2, 4});
  Feed<float>(ws, "W", {5, 2}, {2, -1, 0, 0, 0, 0, kLog2, 0, 0, 0});
  Feed<float>(ws, "b", {5}, {kLog3, 0, 0, 0, 0});
}

TEST(HSoftmaxTest, AddsTheSurprisesOfThePathOfEachWord) {
  Workspace ws;
  FeedWeights(&ws);
  Feed<int32_t>(&ws, "l", {2}, {2, 7});
  RunWithPaths(&ws, kLoss, Serialized(TwoNodes()));
  // The probabilities are 3/4 * 2/4 and 1/4.
  ExpectTensor<float>(ws, "Y", {2}, {std::log(8.0f / 3), kLog4}, 1e-6);
  ExpectTensor<float>(
      ws, "I", {14},
      {kLog3, 0, 0.75f, 0.25f, 0, kLog2, 0, 0.25f, 0.5f, 0.25f, kLog3, 0, 0.75f, 0.25f}, 1e-6);
}

TEST(HSoftmaxTest, AcceptsAVectorAsOneSampleAndOtherRanks) {
  Workspace ws;
  FeedWeights(&ws);
  Feed<float>(&ws, "X", {2}, {1, 2});
  Feed<int32_t>(&ws, "l", {2, 1}, {3, 1});
  RunWithPaths(&ws, kLoss, Serialized(TwoNodes()));
  ExpectTensor<float>(ws, "Y", {1}, {std::log(16.0f / 3)}, 1e-6);
  Feed<float>(&ws, "X", {1, 2, 1}, {1, 2});
  RunWithPaths(&ws, kLoss, Serialized(TwoNodes()));
  ExpectTensor<float>(ws, "Y", {1}, {std::log(16.0f / 3)}, 1e-6);
  Feed<float>(&ws, "X", {0, 2}, {});
  Feed<int32_t>(&ws, "l", {0}, {});
  RunWithPaths(&ws, kLoss, Serialized(TwoNodes()));
  ExpectTensor<float>(ws, "Y", {0}, {});
  ExpectTensor<float>(ws, "I", {0}, {});
}

TEST(HSoftmaxTest, LimitsSurprisesAndUsesTheFirstPathOfAWord) {
  Workspace ws;
  Feed<float>(&ws, "X", {3, 0}, {});
  Feed<float>(&ws, "W", {2, 0}, {});
  Feed<float>(&ws, "b", {2}, {1000, 0});
  Feed<int32_t>(&ws, "l", {3}, {-4, 5, 6});
  RunWithPaths(&ws, kLoss,
               Serialized({{-4, {{0, 2, 1}}}, {-4, {{0, 2, 0}}}, {5, {}}, {6, {{1, 1, 0}}}}));
  ExpectTensor<float>(ws, "Y", {3}, {-std::log(1e-20f), 0, 0}, 1e-6);
  ExpectTensor<float>(ws, "I", {6}, {1000, 0, 1, 0, 0, 1});
}

TEST(HSoftmaxGradientTest, MultipliesTheGradientsOfLogitsByWeightsAndInputs) {
  Workspace ws;
  Feed<float>(&ws, "X", {1, 1}, {0.5f});
  Feed<float>(&ws, "W", {2, 1}, {1, -1});
  Feed<float>(&ws, "b", {2}, {0, 0});
  Feed<int32_t>(&ws, "l", {1}, {0});
  Feed<float>(&ws, "I", {4}, {0, 0, 0.75f, 0.25f});
  Feed<float>(&ws, "G", {1}, {3});
  RunWithPaths(&ws, kGradient, Serialized({{0, {{0, 2, 0}}}}));
  // The gradients of the logits are 3 * (p - [1, 0]), that of the probability is -3 / p.
  ExpectTensor<float>(ws, "dI", {4}, {-0.75f, 0.75f, -4, 0}, 1e-6);
  ExpectTensor<float>(ws, "db", {2}, {-0.75f, 0.75f}, 1e-6);
  ExpectTensor<float>(ws, "dW", {2, 1}, {-0.375f, 0.375f}, 1e-6);
  ExpectTensor<float>(ws, "dX", {1, 1}, {-1.5f}, 1e-6);
}

// The sum of dY * Y, in double.
double WeightedLoss(const std::vector<double>& x, const std::vector<double>& w,
                    const std::vector<double>& b, const std::vector<int>& labels,
                    const std::vector<float>& dy) {
  const size_t columns = x.size() / labels.size();
  double loss = 0;
  for (size_t m = 0; m < labels.size(); ++m) {
    for (const WordPath& path : TwoNodes()) {
      if (path.word != labels[m]) continue;
      for (const PathNode& node : path.nodes) {
        std::vector<double> logits;
        double total = 0;
        for (int i = 0; i < node.length; ++i) {
          const auto row = static_cast<size_t>(node.index + i);
          double logit = b[row];
          for (size_t k = 0; k < columns; ++k) logit += w[row * columns + k] * x[m * columns + k];
          logits.push_back(logit);
          total += std::exp(logit);
        }
        loss += static_cast<double>(dy[m]) *
                (std::log(total) - logits[static_cast<size_t>(node.target)]);
      }
    }
  }
  return loss;
}

TEST(HSoftmaxGradientTest, AgreesWithCentralDifferences) {
  Workspace ws;
  FeedRandom(&ws, "X", {4, 3}, -1, 1, 1);
  FeedRandom(&ws, "W", {6, 3}, -1, 1, 2);
  FeedRandom(&ws, "b", {6}, -1, 1, 3);
  FeedRandom(&ws, "G", {4}, -1, 1, 4);
  Feed<int32_t>(&ws, "l", {4}, {7, 3, 1, 3});
  RunWithPaths(&ws, kLoss, Serialized(TwoNodes()));
  RunWithPaths(&ws, kGradient, Serialized(TwoNodes()));
  std::vector<std::vector<double>> values;
  for (const char* const name : {"X", "W", "b"}) {
    const std::vector<float> floats = Fetch<float>(ws, name);
    values.emplace_back(floats.begin(), floats.end());
  }
  const std::vector<float> dy = Fetch<float>(ws, "G");
  const auto loss = [&] { return WeightedLoss(values[0], values[1], values[2], {7, 3, 1, 3}, dy); };
  constexpr double kStep = 1e-4;
  for (size_t i = 0; i < values.size(); ++i) {
    const std::vector<float> got = Fetch<float>(ws, std::vector<const char*>{"dX", "dW", "db"}[i]);
    for (size_t k = 0; k < values[i].size(); ++k) {
      double& value = values[i][k];
      const double before = value;
      value = before + kStep;
      const double above = loss();
      value = before - kStep;
      const double below = loss();
      value = before;
      EXPECT_NEAR(got[k], (above - below) / (2 * kStep), 1e-5)
          << "input " << i << ", element " << k;
    }
  }
}

TEST(HSoftmaxGradientTest, IsMadeIfBothOutputsHaveAGradient) {
  const std::string text = std::string(kLoss) + " arg { name: 'hierarchy' s: 'h' }";
  EXPECT_EQ(
      DescribeGradient(text),
      "HSoftmaxGradient(X,W,b,l,I,Y_grad)->X_grad,W_grad,b_grad,I_grad hierarchy=\"h\" | X_grad "
      "W_grad b_grad -");
  ExpectThrows(
      [&] {
        DescribeGradient(text, {{.dense_ = "Y_grad"}, {}});
      },
      "the gradient of output I is not given");
  ExpectInferred(
      {{"HSoftmax X W b l -> Y I", "X f 5,3; W f 9,3; b f 9; l i 5", "float [5]; float ?"},
       {"HSoftmax X W b l -> Y I", "X f 3; W f 9,3; b f 9; l i 1", "float [1]; float ?"},
       {"HSoftmax X W b l -> Y I", "X f ?; W f 9,3; b f 9; l i 5", "float ?; float ?"},
       {"HSoftmaxGradient X W b l I G -> x w c i", "X f 5,3; W f 9,3; b f 9; l i 5; I f ?; G f 5",
        "float [5, 3]; float [9, 3]; float [9]; float ?"}});
}

// Inputs that replace those of two samples, a hierarchy, and the error.
struct RejectedInputs {
  std::string inputs;
  std::vector<WordPath> paths;
  std::string part;
};

void ExpectEachRejected(const char* op, const std::vector<RejectedInputs>& rows) {
  for (const RejectedInputs& row : rows) {
    SCOPED_TRACE(row.part);
    Workspace ws;
    FeedWeights(&ws);
    Feed<int32_t>(&ws, "l", {2}, {2, 7});
    FeedRandom(&ws, "I", {14}, 0, 1);
    FeedRandom(&ws, "G", {2});
    if (!row.inputs.empty()) FeedInputs({"", row.inputs.c_str()}, &ws);
    ExpectThrows([&] { RunWithPaths(&ws, op, Serialized(row.paths)); }, row.part);
  }
}

TEST(HSoftmaxTest, RejectsInvalidCalls) {
  ExpectEachRejected(
      kLoss,
      {{"W f 10", TwoNodes(), "rank of input 1 (W) of shape [10]: got 1, want at least 2"},
       {"W f 5,3", TwoNodes(),
        "elements of a row of input 1 (W) of shape [5, 3], want those of a row of input 0 (X) of "
        "shape [2, 2] (got 3, want 2)"},
       {"b f 5,1", TwoNodes(), "input 2 (b) has shape [5, 1], want [5], the rows of input 1 (W)"},
       {"b f 4", TwoNodes(), "input 2 (b) has shape [4], want [5], the rows of input 1 (W)"},
       {"l i 1 = 1", TwoNodes(),
        "elements of input 3 (labels), of which each row of input 0 (X) has one: got 1, want at "
        "least "
        "2"},
       {"X f -", TwoNodes(), "rank of input 0 (X): got 0, want at least 1"},
       {"X d 2,2", TwoNodes(), "double"},
       {"l l 2 = 2,7", TwoNodes(), "int64"},
       {"l i 2 = 2,4", TwoNodes(),
        "element 1 of input 3 (labels) is 4, want a word of which argument hierarchy has a path"},
       {"", {}, "element 0 of input 3 (labels) is 2, want a word of which"},
       {"", {{2, {{0, 2, 2}}}}, "the path of word 2 in argument hierarchy has a node with index 0"},
       {"", {{2, {{0, 2, -1}}}}, "index 0, length 2 and target -1, want an index of at least 0"},
       {"", {{2, {{-1, 2, 1}}}}, "index -1, length 2 and target 1, want"},
       {"", {{2, {{0, 0, 0}}}}, "index 0, length 0 and target 0, want"},
       {"", {{2, {{0, -1, -2}}}}, "index 0, length -1 and target -2, want"},
       {"",
        {{2, {{4, 2, 1}}}, {7, {}}},
        "rows of input 1 (W) that the path of word 2 in argument hierarchy needs: got 6, want at "
        "most 5"},
       {"",
        {{2, {{0x7fffffff, 0x7fffffff, 0}}}, {7, {}}},
        "argument hierarchy needs: got 4294967294, want at most 5"}});
  ExpectEachRejected(
      kGradient,
      {{"G f 3", TwoNodes(),
        "elements of input 5 (dY), want one for each row of input 0 (X) (got 3, want 2)"},
       {"I f 13", TwoNodes(),
        "elements of input 4 (intermediate_output), want those of HSoftmax for the labels (got 13, "
        "want 14)"},
       {"l i 2 = 7", TwoNodes(), "for the labels (got 14, want 8)"},
       {"b f 4", TwoNodes(), "input 2 (b) has shape [4], want [5]"}});
}

TEST(HSoftmaxTest, RejectsArgumentsThatAreNoHierarchy) {
  Workspace ws;
  FeedWeights(&ws);
  Feed<int32_t>(&ws, "l", {2}, {2, 7});
  ExpectThrows([&] { RunWithPaths(&ws, kLoss, "\xff\xff"); },
               "argument \"hierarchy\" does not hold a caffe2rt.HierarchyProto");
  ExpectThrows([&] { ws.RunOperatorOnce(ParseOp(kLoss)); }, "hierarchy");
}

}  // namespace
}  // namespace caffe2rt::test::h_softmax_test
