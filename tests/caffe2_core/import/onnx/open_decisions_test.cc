// Models that decide about a size that they leave open: comparisons, limits, remainders and branches.
// The model is imported without the size, so that each run decides for itself.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "tests/caffe2_core/import/onnx/imported_onnx.h"
#include "tests/caffe2_core/import/onnx/node_forms.h"

namespace caffe2rt::test::open_decisions_test {
namespace {

using namespace node_forms;  // used throughout this file

// x is [n, 2]; its shape is in s, n is in p (a list) and in q.
const std::string kDecided = Node("Shape", "x", "", "s") + List("z", {0}) + List("o", {0}, true) +
                             Node("Gather", "sz", "", "p") + Node("Gather", "so", "", "q");

std::string DecidingModel(const std::string& nodes) {
  return OnnxBytes(OnnxValue("input", "x", {"n", "2"}) + kDecided + nodes + "output { name: 'y' }",
                   18);
}

Tensor RunDeciding(const std::string& bytes, int64_t n) {
  return RunOnnxBytes(
      bytes, {{"x", FloatTensor({n, 2}, std::vector<float>(static_cast<size_t>(2 * n), 1))}}, "y");
}

struct DecidedNumber {
  std::string nodes;
  std::function<int64_t(int64_t n)> want;
};

TEST(OpenDecisionsTest, NumbersAreThoseOfTheSizeOfTheRun) {
  const std::string one = List("u", {1}, true);
  const std::string whole = Int("to", kInt64);
  const std::vector<DecidedNumber> rows = {
      {one + Node("Equal", "qu", "", "c") + Node("Cast", "c", whole),
       [](int64_t n) -> int64_t { return n == 1; }},
      {one + Node("Equal", "qu", "", "c") + Node("Not", "c", "", "d") + Node("Cast", "d", whole),
       [](int64_t n) -> int64_t { return n != 1; }},
      // No size is -1, which is no dim of Expand.
      {List("u", {-1}, true) + Node("Equal", "qu", "", "c") + Node("Cast", "c", whole),
       [](int64_t) -> int64_t { return 0; }},
      {List("u", {40}, true) + Node("Less", "qu", "", "c") + Node("Cast", "c", whole),
       [](int64_t n) -> int64_t { return n < 40; }},
      {List("u", {4096}, true) + Node("Greater", "qu", "", "c") + Node("Cast", "c", whole),
       [](int64_t n) -> int64_t { return n > 4096; }},
      {List("u", {7}, true) + Node("GreaterOrEqual", "qu", "", "c") + Node("Cast", "c", whole),
       [](int64_t n) -> int64_t { return n >= 7; }},
      {List("u", {5}, true) + Node("LessOrEqual", "qu", "", "c") + Node("Cast", "c", whole),
       [](int64_t n) -> int64_t { return n <= 5; }},
      {List("u", {1}, true) + List("v", {5000}, true) + Node("Equal", "qu", "", "a") +
           Node("Equal", "qv", "", "b") + Node("Or", "ab", "", "c") + Node("Cast", "c", whole),
       [](int64_t n) -> int64_t { return n == 1 || n == 5000; }},
      {List("u", {32}, true) + Node("Min", "qu"),
       [](int64_t n) { return std::min<int64_t>(n, 32); }},
      {List("u", {5000}, true) + Node("Max", "qu"),
       [](int64_t n) { return std::max<int64_t>(n, 5000); }},
      {List("u", {32}, true) + Node("Mod", "qu"), [](int64_t n) { return n % 32; }},
      {List("u", {1000}, true) + Node("Div", "qu"), [](int64_t n) { return n / 1000; }},
      {one + List("a", {10}, true) + List("b", {20}, true) + Node("Equal", "qu", "", "c") +
           Node("Where", "cab"),
       [](int64_t n) -> int64_t { return n == 1 ? 10 : 20; }}};
  for (const DecidedNumber& row : rows) {
    SCOPED_TRACE(row.nodes);
    const std::string bytes = DecidingModel(row.nodes);
    for (const int64_t n : {1, 2, 5, 7, 32, 40, 5000, 5001}) {
      SCOPED_TRACE(n);
      EXPECT_EQ(IntsOf(RunDeciding(bytes, n)), std::vector<int64_t>{row.want(n)});
    }
  }
}

// Empty inputs have sizes, too. Remainders take all values.
TEST(OpenDecisionsTest, SizesMayBeZeroAndRemaindersLarge) {
  const std::string whole = Node("Cast", "c", Int("to", kInt64)), zero = List("u", {0}, true);
  const std::string eight = List("u", {8}, true) + Node("Mod", "qu", "", "r");
  const std::vector<DecidedNumber> rows = {
      {zero + Node("Equal", "qu", "", "c") + whole, [](int64_t n) -> int64_t { return n == 0; }},
      {zero + Node("Greater", "qu", "", "c") + whole, [](int64_t n) -> int64_t { return n > 0; }},
      {List("u", {1}, true) + Node("Min", "qu"), [](int64_t n) -> int64_t { return n > 0; }},
      {Node("Cast", "q", Int("to", kBool), "c") + whole,
       [](int64_t n) -> int64_t { return n != 0; }},
      {List("v", {1}) + Node("Slice", "xzv", "", "w") + Node("Size", "w"),
       [](int64_t n) -> int64_t { return n > 0 ? 2 : 0; }},
      {eight + List("v", {5}, true) + Node("Equal", "rv", "", "c") + whole,
       [](int64_t n) -> int64_t { return n % 8 == 5; }},
      {eight + List("v", {6}, true) + Node("Less", "rv", "", "c") + whole,
       [](int64_t n) -> int64_t { return n % 8 < 6; }},
      {eight + List("v", {4}, true) + Node("Min", "rv"),
       [](int64_t n) { return std::min<int64_t>(n % 8, 4); }}};
  for (const DecidedNumber& row : rows) {
    SCOPED_TRACE(row.nodes);
    const std::string bytes = DecidingModel(row.nodes);
    for (const int64_t n : {0, 1, 5, 7, 8, 13}) {
      SCOPED_TRACE(n);
      EXPECT_EQ(IntsOf(RunDeciding(bytes, n)), std::vector<int64_t>{row.want(n)});
    }
  }
}

// x is [n, 2] and b is [m, 2]; their first numbers are in q and r. Either may be the larger one.
TEST(OpenDecisionsTest, NumbersAreThoseOfBothSizesOfTheRun) {
  const std::string inputs =
      OnnxValue("input", "x", {"n", "2"}) + OnnxValue("input", "b", {"m", "2"});
  const std::string sizes = Node("Shape", "x", "", "s") + Node("Shape", "b", "", "t") +
                            List("o", {0}, true) + List("u", {1}, true) +
                            Node("Gather", "so", "", "q") + Node("Gather", "to", "", "r");
  const std::string divides = Node("Mod", "qr", "", "e") + Node("Equal", "eo", "", "c");
  const struct {
    std::string nodes;
    std::function<int64_t(int64_t n, int64_t m)> want;
  } rows[] = {{Node("Sub", "qr", "", "e") + Node("Max", "eo"),
               [](int64_t n, int64_t m) { return std::max<int64_t>(n - m, 0); }},
              {Node("Sub", "rq", "", "e") + Node("Max", "eo"),
               [](int64_t n, int64_t m) { return std::max<int64_t>(m - n, 0); }},
              {Node("Div", "qr", "", "e") + Node("Max", "eu"),
               [](int64_t n, int64_t m) { return std::max<int64_t>(n / m, 1); }},
              {Node("Div", "rq", "", "e") + Node("Max", "eu"),
               [](int64_t n, int64_t m) { return std::max<int64_t>(m / n, 1); }},
              {divides + Node("Where", "cqu"),
               [](int64_t n, int64_t m) { return n % m == 0 ? n : int64_t{1}; }},
              // How often heads of keys are repeated for groups of queries.
              {divides + Node("Equal", "qr", "", "d") + Node("Not", "d", "", "f") +
                   Node("And", "cf", "", "g") + Node("Div", "qr", "", "h") + Node("Where", "ghu"),
               [](int64_t n, int64_t m) { return n != m && n % m == 0 ? n / m : int64_t{1}; }},
              {Node("Range", "oqr", "", "e") + Node("Size", "e"),
               [](int64_t n, int64_t m) { return (n + m - 1) / m; }},
              {Node("Range", "rqu", "", "e") + Node("Size", "e"),
               [](int64_t n, int64_t m) { return std::max<int64_t>(n - m, 0); }}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.nodes);
    const std::string bytes = OnnxBytes(inputs + sizes + row.nodes + "output { name: 'y' }", 18);
    for (const auto& [n, m] :
         std::vector<std::pair<int64_t, int64_t>>{{6, 3}, {3, 3}, {5, 3}, {2, 8}, {1, 1}, {1, 7}}) {
      SCOPED_TRACE(testing::Message() << n << " and " << m);
      const auto ones = [](int64_t rows) {
        return FloatTensor({rows, 2}, std::vector<float>(static_cast<size_t>(2 * rows), 1));
      };
      EXPECT_EQ(IntsOf(RunOnnxBytes(bytes, {{"x", ones(n)}, {"b", ones(m)}}, "y")),
                std::vector<int64_t>{row.want(n, m)});
    }
  }
}

// A number that the size cancels out of is a constant still.
TEST(OpenDecisionsTest, NumbersThatDoNotDependOnTheSizeStayConstant) {
  for (const std::string& nodes :
       {Node("Sub", "qq"), Node("Div", "qq"),
        Node("Equal", "qq", "", "c") + Node("Cast", "c", Int("to", kInt64))}) {
    SCOPED_TRACE(nodes);
    const OnnxModel model = ImportOnnxFromMemory(DecidingModel(nodes), {});
    ASSERT_EQ(model.predict_net.op_size(), 1);
    EXPECT_EQ(model.predict_net.op(0).type(), "Copy");
  }
}

// Lists and tensors that a size may cut.
TEST(OpenDecisionsTest, ListsAreCutAtTheSizeOfTheRun) {
  const std::string first = Int("axis", 0);
  const std::string list = List("t", {3, 1, 4, 1, 5, 9});
  const std::string table = Constant("t", kFloat, {6, 1}, {3, 1, 4, 1, 5, 9});
  const std::vector<double> all = {3, 1, 4, 1, 5, 9};
  for (const int64_t n : {1, 2, 5, 6, 7, 50}) {
    SCOPED_TRACE(n);
    const auto kept = static_cast<size_t>(std::min<int64_t>(n, 6));
    const std::vector<int64_t> whole(all.begin(), all.begin() + static_cast<int64_t>(kept));
    EXPECT_EQ(IntsOf(RunDeciding(DecidingModel(list + Node("Slice", "tzp")), n)), whole);
    const Tensor cut = RunDeciding(DecidingModel(table + Node("Slice", "tzp")), n);
    EXPECT_EQ(cut.dims(), (std::vector<int64_t>{static_cast<int64_t>(kept), 1}));
    EXPECT_EQ(FloatsOf(cut), std::vector<float>(whole.begin(), whole.end()));
    // The length of what was cut.
    EXPECT_EQ(IntsOf(RunDeciding(
                  DecidingModel(table + Node("Slice", "tzp", "", "r") + Node("Shape", "r")), n)),
              (std::vector<int64_t>{static_cast<int64_t>(kept), 1}));
  }
  EXPECT_EQ(
      ImportOnnxFromMemory(DecidingModel(table + Node("Slice", "tzp")), {}).output_dims.at("y"),
      (std::vector<int64_t>{-1, 1}));
}

// A table of 6 x 2 as rows of as many as the size, but 6 at most.
TEST(OpenDecisionsTest, RowsAreAsManyAsTheSizeOfTheRun) {
  const std::string bytes =
      DecidingModel(Constant("t", kFloat, {6, 2}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}) +
                    List("u", {6}) + Node("Min", "pu", "", "m") + List("v", {-1}) +
                    Node("Concat", "mv", Int("axis", 0), "e") + Node("Reshape", "te"));
  for (const int64_t n : {1, 2, 3, 6, 12, 64}) {
    const int64_t rows = std::min<int64_t>(n, 6);
    EXPECT_EQ(RunDeciding(bytes, n).dims(), (std::vector<int64_t>{rows, 12 / rows})) << n;
  }
}

// Lists of which only some sizes have elements, and nodes with too few or too many inputs.
TEST(OpenDecisionsTest, ListsMayBeEmptyForSomeSizes) {
  const std::string one = List("u", {1}, true), range = one + Node("Range", "oqu", "", "r");
  const std::string values = Constant("v", kFloat, {2}, {0, 1});
  const std::string whole = Node("Cast", "x", Int("to", kInt64), "w");
  for (const std::string& nodes :
       {Node("Equal", "q"), List("a", {200}) + Constant("b", kBool, {0}, {}) + Node("Equal", "pab"),
        range + List("a", {1}) + List("b", {2}) + Node("Slice", "rab", "", "d") + values + whole +
            Node("OneHot", "wdv"),
        range + List("a", {2}) + Node("Max", "pa", "", "e") + Node("Reshape", "re", "", "d") +
            List("b", {63}) + Node("Gather", "db")}) {
    SCOPED_TRACE(nodes);
    const std::string bytes = DecidingModel(nodes);
    (void)OnnxImportError(bytes);  // either is fine
    try {
      (void)RunDeciding(bytes, 64);
    } catch (const EnforceNotMet&) {
    }
  }
}

std::string DecidedBranch(const std::string& name, const std::string& node) {
  return "attribute { name: '" + name + "' type: GRAPH g { name: 'g' " + node +
         " output { name: 'r' } } } ";
}

const std::string kIsOne = List("u", {1}, true) + Node("Equal", "qu", "", "c");

TEST(OpenDecisionsTest, BranchesAreThoseOfTheSizeOfTheRun) {
  const std::string bytes =
      DecidingModel(kIsOne + Node("If", "c",
                                  DecidedBranch("then_branch", Node("Neg", "x", "", "r")) +
                                      DecidedBranch("else_branch", Node("Add", "xx", "", "r"))));
  EXPECT_EQ(FloatsOf(RunDeciding(bytes, 1)), (std::vector<float>{-1, -1}));
  EXPECT_EQ(FloatsOf(RunDeciding(bytes, 2)), (std::vector<float>{2, 2, 2, 2}));
}

// The rank is that of both branches, though the number of elements is known to none.
TEST(OpenDecisionsTest, BranchesOfOneRankAreBothThere) {
  const std::string bytes =
      DecidingModel(kIsOne + Node("Neg", "x", "", "e") +
                    Node("If", "c",
                         DecidedBranch("then_branch", Node("NonZero", "x", "", "r")) +
                             DecidedBranch("else_branch", Node("Identity", "x", "", "l") +
                                                              Node("NonZero", "l", "", "r"))));
  EXPECT_EQ(RunDeciding(bytes, 1).dims(), (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(RunDeciding(bytes, 2).dims(), (std::vector<int64_t>{2, 4}));
}

// The branch of size 1 needs the size.
TEST(OpenDecisionsTest, ABranchThatCannotBeImportedIsNotOfUsualSizes) {
  const std::string bytes = DecidingModel(
      kIsOne + Node("If", "c",
                    DecidedBranch("then_branch", Node("SplitToSequence", "x", "", "l") +
                                                     Node("SequenceAt", "lo", "", "r")) +
                        DecidedBranch("else_branch", Node("Neg", "x", "", "r"))));
  EXPECT_EQ(FloatsOf(RunDeciding(bytes, 2)), (std::vector<float>{-1, -1, -1, -1}));
  EXPECT_THROW(RunDeciding(bytes, 1), EnforceNotMet);
}

// PyTorch's squeeze of one axis: what follows needs the rank, so that one branch is chosen. A run that
// wants the other one fails.
TEST(OpenDecisionsTest, BranchesOfOtherRanksAreChosenForUsualSizes) {
  for (const bool negated : {false, true}) {
    SCOPED_TRACE(negated);
    const std::string squeeze = List("k", {0}) + Node("Squeeze", "xk", "", "r");
    const std::string copy = Node("Identity", "x", "", "r");
    const std::string nodes =
        kIsOne + (negated ? Node("Not", "c", "", "d") : Node("Identity", "c", "", "d")) +
        Node("If", "d",
             DecidedBranch("then_branch", negated ? copy : squeeze) +
                 DecidedBranch("else_branch", negated ? squeeze : copy),
             "i") +
        Node("Softmax", "i", Int("axis", 0));
    const std::string bytes = DecidingModel(nodes);
    EXPECT_EQ(FloatsOf(RunDeciding(bytes, 2)), (std::vector<float>{0.5f, 0.5f, 0.5f, 0.5f}));
    try {
      RunDeciding(bytes, 1);
      FAIL() << "want an error";
    } catch (const EnforceNotMet& error) {
      EXPECT_NE(error.message().find("the condition of node \"n\" depends on sizes that the model "
                                     "leaves open"),
                std::string::npos)
          << error.message();
    }
    // With the size, the branch is the right one.
    EXPECT_EQ(FloatsOf(RunOnnxBytes(bytes, {{"x", FloatTensor({1, 2}, {1, 1})}}, "y",
                                    {.dims = {{"n", 1}}})),
              (std::vector<float>{0.5f, 0.5f}));
  }
}

}  // namespace
}  // namespace caffe2rt::test::open_decisions_test
