// Nets that passes replace, with up to three random changes each: other inputs, arguments and types,
// operators between, results that are read or overwritten elsewhere. Whatever a pass makes of such
// a net, it computes what the net computes.
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/passes/fold_batch_norm.h"
#include "caffe2_core/graph/passes/fuse_activation.h"
#include "caffe2_core/graph/passes/fuse_attention.h"
#include "caffe2_core/graph/passes/fuse_fc.h"
#include "caffe2_core/graph/passes/fuse_gelu.h"
#include "caffe2_core/graph/passes/fuse_layer_norm.h"
#include "caffe2_core/graph/passes/fuse_sum.h"
#include "caffe2_core/graph/passes/remove_copies.h"
#include "caffe2_core/graph/passes/reshape_in_place.h"
#include "tests/caffe2_core/graph/passes/pass_run.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::changed_patterns_test {
namespace {

struct Filled {
  std::string name;
  std::vector<int64_t> dims;
  float low = -1, high = 1;
};

struct Pattern {
  NetDef (*pass)(NetDef, PassContext&);
  std::string text;
  std::vector<Filled> constants, inputs;
  std::vector<std::string> types;  // that may replace each other
};

// The same numbers on every machine.
class Numbers {
 public:
  explicit Numbers(uint32_t seed) : state_(seed * 2654435761u + 977) {}
  size_t Below(size_t end) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<size_t>(state_ >> 33) % end;
  }
  template <class List>
  auto& Of(List& list) {
    return list[Below(list.size())];
  }

 private:
  uint64_t state_;
};

class Changer {
 public:
  Changer(const Pattern& pattern, uint32_t seed)
      : pattern_(pattern), numbers_(seed), net_(test::ParseNet(pattern.text)) {
    for (const auto* filled : {&pattern.constants, &pattern.inputs}) {
      for (const Filled& blob : *filled) names_.push_back(blob.name);
    }
    for (const OperatorDef& op : net_.op()) {
      names_.insert(names_.end(), op.output().begin(), op.output().end());
    }
  }
  NetDef Run() {
    for (size_t left = numbers_.Below(4); left > 0; --left) Change();
    return net_;
  }
  // Blobs besides y that are read after the net has run.
  const std::vector<std::string>& kept() const { return kept_; }

 private:
  OperatorDef& Any() {
    return *net_.mutable_op(static_cast<int>(numbers_.Below(static_cast<size_t>(net_.op_size()))));
  }
  int AnyInput(const OperatorDef& op) {
    return static_cast<int>(numbers_.Below(static_cast<size_t>(op.input_size())));
  }
  void Change() {
    OperatorDef& op = Any();
    switch (numbers_.Below(9)) {
      case 0:
        if (op.input_size() > 0) op.set_input(AnyInput(op), numbers_.Of(names_));
        break;
      case 1:
        if (op.input_size() > 1) op.mutable_input()->SwapElements(AnyInput(op), AnyInput(op));
        break;
      case 2:
        if (op.arg_size() > 0) {
          ChangeArgument(
              op.mutable_arg(static_cast<int>(numbers_.Below(static_cast<size_t>(op.arg_size())))));
        }
        break;
      case 3:
        AddOne(&op);
        break;
      case 4:
        if (std::find(pattern_.types.begin(), pattern_.types.end(), op.type()) !=
            pattern_.types.end()) {
          op.set_type(numbers_.Of(pattern_.types));
        }
        break;
      case 5:
        kept_.push_back(op.output(0));
        break;
      case 6:
        Overwrite(&op);
        break;
      case 7:
        Insert();
        break;
      default:
        if (op.output_size() > 1) op.mutable_output()->RemoveLast();
    }
  }
  void ChangeArgument(Argument* arg) {
    static const int kInts[] = {-2, -1, 0, 1, 2, 3};
    static const float kFloats[] = {0, 0.5f, 1, 2, -1};
    if (arg->ints_size() > 1 && numbers_.Below(2) == 0) {
      const auto count = static_cast<size_t>(arg->ints_size());
      arg->mutable_ints()->SwapElements(static_cast<int>(numbers_.Below(count)),
                                        static_cast<int>(numbers_.Below(count)));
    } else if (arg->ints_size() > 0) {
      arg->set_ints(0, kInts[numbers_.Below(6)]);
    } else if (arg->has_i()) {
      arg->set_i(kInts[numbers_.Below(6)]);
    } else if (arg->has_f()) {
      arg->set_f(kFloats[numbers_.Below(5)]);
    }
  }
  // Adds an argument that the operator may have.
  void AddOne(OperatorDef* op) {
    static const char* const kNames[] = {"axis",     "broadcast", "trans_a", "trans_b", "keepdims",
                                         "exponent", "axis_w",    "axes",    "scale",   "epsilon"};
    const char* const name = kNames[numbers_.Below(10)];
    if (GetArgumentPtr(*op, name) != nullptr) return;
    Argument* const arg = GetMutableArgument(name, true, op);
    if (std::string(name) == "axes") arg->add_ints(0);
    if (std::string(name) == "scale" || std::string(name) == "exponent") arg->set_f(2);
    if (std::string(name) == "epsilon") arg->set_f(0.25f);
    if (arg->ints_size() == 0 && !arg->has_f()) arg->set_i(static_cast<int>(numbers_.Below(3)));
  }
  // Lets the operator write another blob, which those that read its result now read.
  void Overwrite(OperatorDef* op) {
    const std::string from = op->output(0);
    if (from == "y") return;
    const std::string to = numbers_.Below(2) == 0 && op->input_size() > 0 ? op->input(AnyInput(*op))
                                                                          : numbers_.Of(names_);
    for (OperatorDef& user : *net_.mutable_op()) {
      for (std::string& name : *user.mutable_input()) name = name == from ? to : name;
      for (std::string& name : *user.mutable_output()) name = name == from ? to : name;
    }
  }
  // An operator that reads a blob, and maybe overwrites another one.
  void Insert() {
    static const char* const kTypes[] = {"Relu", "Tanh", "Negative", "Copy"};
    const std::string from = numbers_.Of(names_);
    std::string to = numbers_.Of(names_);
    if (numbers_.Below(2) == 0) {
      to = MakeString("more", net_.op_size());
      kept_.push_back(to);
    }
    *net_.add_op() =
        CreateOperatorDef(kTypes[numbers_.Below(4)], "", std::vector{from}, std::vector{to});
    for (int at = net_.op_size() - 1; at > 0 && numbers_.Below(8) > 0; --at) {
      net_.mutable_op()->SwapElements(at, at - 1);
    }
  }

  const Pattern& pattern_;
  Numbers numbers_;
  NetDef net_;
  std::vector<std::string> names_, kept_;
};

struct Value {
  std::vector<int64_t> dims;
  std::vector<float> numbers;
};

// The values of the blobs after a run, or none if an operator throws or a number is not finite.
std::optional<std::vector<Value>> Compute(const NetDef& net, const Pattern& pattern,
                                          const std::set<std::string>& blobs, Workspace* ws) {
  uint32_t seed = 1;
  for (const Filled& input : pattern.inputs) {
    test::FeedRandom(ws, input.name, input.dims, input.low, input.high, ++seed);
  }
  std::vector<Value> values;
  try {
    ws->RunNetOnce(net);
    for (const std::string& blob : blobs) {
      const Blob* const found = ws->GetBlob(blob);
      if (found == nullptr || !found->Get<Tensor>().IsType<float>()) return std::nullopt;
      values.push_back({test::DimsOf(*ws, blob), test::Fetch<float>(*ws, blob)});
    }
  } catch (const EnforceNotMet& e) {
    return std::nullopt;
  }
  for (const Value& value : values) {
    for (const float x : value.numbers) {
      if (!(std::abs(x) < 1e6f)) return std::nullopt;
    }
  }
  return values;
}

class ChangedPatternsTest : public testing::Test {
 protected:
  struct Counts {
    int compared = 0, replaced = 0;
  };
  static void FeedConstants(const Pattern& pattern, Workspace* ws) {
    uint32_t seed = 100;
    for (const Filled& constant : pattern.constants) {
      test::FeedRandom(ws, constant.name, constant.dims, constant.low, constant.high, ++seed);
    }
  }
  static void Compare(const Pattern& pattern, uint32_t seed, Counts* counts) {
    Changer changer(pattern, seed);
    const NetDef changed = changer.Run();
    Workspace plain;
    FeedConstants(pattern, &plain);
    std::set<std::string> kept = {"y"};
    kept.insert(changer.kept().begin(), changer.kept().end());
    const auto want = Compute(changed, pattern, kept, &plain);
    if (!want) return;
    ++counts->compared;
    test::PassRun run;
    FeedConstants(pattern, &run.ws);
    run.kept = kept;
    std::string text;  // that of DebugString need not be readable
    ASSERT_TRUE(google::protobuf::TextFormat::PrintToString(changed, &text));
    run(pattern.pass, text);
    counts->replaced += run.net.SerializeAsString() != changed.SerializeAsString();
    const auto got = Compute(run.net, pattern, kept, &run.ws);
    const std::string nets = MakeString("seed ", seed, "\n", changed.DebugString(), "\nmade into\n",
                                        run.net.DebugString());
    ASSERT_TRUE(got.has_value()) << nets;
    size_t i = 0;
    for (const std::string& blob : kept) {
      ASSERT_EQ((*got)[i].dims, (*want)[i].dims) << blob << " " << nets;
      double largest = 1, difference = 0;
      for (size_t k = 0; k < (*want)[i].numbers.size(); ++k) {
        const double a = (*got)[i].numbers[k], b = (*want)[i].numbers[k];
        largest = std::max(largest, std::abs(b));
        difference = std::max(difference, std::abs(a - b));
      }
      ASSERT_LE(difference, 1e-4 * largest) << blob << " " << nets;
      ++i;
    }
  }
  // Fails unless at least `least` of the nets ran and the pass changed them.
  static void CompareMany(const Pattern& pattern, int least) {
    Counts counts;
    for (uint32_t seed = 0; seed < 250 && !HasFailure(); ++seed) Compare(pattern, seed, &counts);
    EXPECT_GE(counts.replaced, least) << counts.compared << " nets ran";
  }
};

const std::vector<std::string> kArithmetic = {"Add", "Sub", "Mul", "Div"};

// Batch 3, 3 queries and keys, 3 heads of 4 columns: most changed axes still give a valid net.
TEST_F(ChangedPatternsTest, AttentionComputesTheSame) {
  const auto split = [](const std::string& name, const std::string& axes) {
    return MakeString("op { type: \"Reshape\" input: \"", name, "\" output: \"", name,
                      "4\" output: \"", name,
                      "_old\" arg { name: \"shape\" ints: 0 ints: 0 ints: 3 ints: 4 } }",
                      "op { type: \"Transpose\" input: \"", name, "4\" output: \"", name,
                      "t\" arg { name: \"axes\" ", axes, " } }");
  };
  const std::string rows = "ints: 0 ints: 2 ints: 1 ints: 3",
                    columns = "ints: 0 ints: 2 ints: 3 ints: 1";
  CompareMany({FuseAttention,
               split("q", rows) + split("k", columns) + split("v", rows) + R"(
      op { type: "BatchMatMul" input: "qt" input: "kt" output: "scores" }
      op { type: "Div" input: "scores" input: "root" output: "scaled" }
      op { type: "Add" input: "scaled" input: "mask" output: "masked" }
      op { type: "Softmax" input: "masked" output: "p" arg { name: "axis" i: 3 } }
      op { type: "BatchMatMul" input: "p" input: "vt" output: "c" }
      op { type: "Transpose" input: "c" output: "ct" arg { name: "axes" )" +
                   rows + R"( } }
      op { type: "Reshape" input: "ct" output: "y" output: "y_old"
           arg { name: "shape" ints: 0 ints: 0 ints: 12 } })",
               {{"root", {}, 2, 2}, {"one", {1}, 1, 1}, {"table", {3, 3}}},
               {{"q", {3, 3, 12}},
                {"k", {3, 3, 12}},
                {"v", {3, 3, 12}},
                {"mask", {3, 1, 3, 3}, -3, 3},
                {"r4", {3, 3, 3, 4}}},
               kArithmetic},
              35);
}

TEST_F(ChangedPatternsTest, GeluComputesTheSame) {
  CompareMany({FuseGelu,
               R"(
      op { type: "Div" input: "x" input: "root" output: "a" }
      op { type: "Erf" input: "a" output: "b" }
      op { type: "Add" input: "b" input: "one" output: "c" }
      op { type: "Mul" input: "x" input: "c" output: "d" }
      op { type: "Mul" input: "d" input: "half" output: "y" })",
               {{"root", {}, 1.41421354f, 1.41421354f},
                {"one", {}, 1, 1},
                {"half", {}, 0.5f, 0.5f},
                {"almost", {1}, 0.875f, 0.875f},
                {"matrix", {1, 1}, 0.5f, 0.5f},
                {"cube", {1, 1, 1}, 1, 1}},
               {{"x", {3, 3}, -2, 2}, {"z", {3, 3}, -2, 2}, {"row", {3}}},
               kArithmetic},
              25);
  CompareMany({FuseGelu,
               R"(
      op { type: "Sub" input: "u" input: "first" output: "x" }
      op { type: "Mul" input: "x" input: "half" output: "h" }
      op { type: "Mul" input: "inverse" input: "x" output: "a" }
      op { type: "Erf" input: "a" output: "b" }
      op { type: "Add" input: "one" input: "b" output: "c" }
      op { type: "Mul" input: "c" input: "h" output: "y" })",
               {{"inverse", {1}, 0.707106769f, 0.707106769f},
                {"one", {}, 1, 1},
                {"half", {1}, 0.5f, 0.5f},
                {"quarter", {}, 0.25f, 0.25f},
                {"first", {3}}},
               {{"u", {3, 3}, -2, 2}, {"z", {3, 3}, -2, 2}, {"row", {3}}},
               kArithmetic},
              25);
}

TEST_F(ChangedPatternsTest, LayerNormComputesTheSame) {
  const std::vector<Filled> constants = {
      {"eps", {}, 0.125f, 0.125f}, {"two", {}, 2, 2}, {"half", {}, 0.5f, 0.5f},
      {"g", {3}, 0.5f, 2},         {"b", {3}},        {"table", {3, 3}, 0.5f, 2}};
  const std::vector<Filled> inputs = {
      {"x", {3, 3, 3}, -2, 2}, {"z", {3, 3, 3}, -2, 2}, {"row", {3}, 0.5f, 1}};
  CompareMany({FuseLayerNorm, R"(
      op { type: "ReduceMean" input: "x" output: "m" arg { name: "axes" ints: -1 } }
      op { type: "Sub" input: "x" input: "m" output: "d" }
      op { type: "Sqr" input: "d" output: "s" }
      op { type: "ReduceMean" input: "s" output: "v" arg { name: "axes" ints: -1 } }
      op { type: "Add" input: "v" input: "eps" output: "e" }
      op { type: "Sqrt" input: "e" output: "f" }
      op { type: "Div" input: "d" input: "f" output: "n" }
      op { type: "Mul" input: "n" input: "g" output: "o" }
      op { type: "Add" input: "o" input: "b" output: "y" })",
               constants, inputs, kArithmetic},
              35);
  CompareMany({FuseLayerNorm, R"(
      op { type: "ReduceBackMean" input: "x" output: "m" }
      op { type: "Sub" input: "x" input: "m" output: "d" arg { name: "broadcast" i: 1 }
           arg { name: "axis" i: 0 } }
      op { type: "Pow" input: "d" output: "s" arg { name: "exponent" f: 2 } }
      op { type: "ReduceBackMean" input: "s" output: "v" }
      op { type: "Add" input: "v" input: "eps" output: "e" arg { name: "broadcast" i: 1 } }
      op { type: "Pow" input: "e" output: "f" arg { name: "exponent" f: 0.5 } }
      op { type: "Div" input: "d" input: "f" output: "n" arg { name: "broadcast" i: 1 }
           arg { name: "axis" i: 0 } }
      op { type: "Mul" input: "n" input: "g" output: "o" arg { name: "broadcast" i: 1 } }
      op { type: "Add" input: "o" input: "b" output: "y" arg { name: "broadcast" i: 1 } })",
               constants, inputs, kArithmetic},
              35);
}

TEST_F(ChangedPatternsTest, LayersComputeTheSame) {
  const std::vector<Filled> constants = {
      {"w", {3, 3}}, {"b", {3}}, {"cube", {3, 3, 3}}, {"one", {1}}, {"b9", {9}}};
  const std::vector<Filled> inputs = {{"x", {3, 3}}, {"z", {3, 3, 3}}, {"row", {3}}};
  const std::vector<std::string> types = {"FC", "FCTransposed"};
  for (const char* const layer :
       {R"(op { type: "FC" input: "x" input: "w" input: "b" output: "a" })",
        R"(op { type: "FCTransposed" input: "x" input: "cube" input: "b9" output: "a"
                arg { name: "axis_w" i: 1 } })",
        R"(op { type: "MatMul" input: "x" input: "w" output: "t" }
           op { type: "Add" input: "t" input: "b" output: "a" arg { name: "broadcast" i: 1 } })",
        R"(op { type: "BatchMatMul" input: "x" input: "w" output: "t" }
           op { type: "Add" input: "t" input: "b" output: "a" })",
        R"(op { type: "BatchMatMul" input: "z" input: "w" output: "t"
                arg { name: "broadcast" i: 1 } arg { name: "trans_b" i: 1 } }
           op { type: "Add" input: "t" input: "b" output: "a" })"}) {
    const std::string net = MakeString(layer, R"(op { type: "Relu" input: "a" output: "r" }
        op { type: "Tanh" input: "r" output: "y" })");
    CompareMany({FuseFC, net, constants, inputs, types}, 35);
  }
}

TEST_F(ChangedPatternsTest, ConvolutionsComputeTheSame) {
  const std::vector<Filled> constants = {{"w", {4, 4, 1, 1}},    {"half", {4, 2, 1, 1}},
                                         {"bias", {4}},          {"s", {4}, 0.5f, 2},
                                         {"mean", {4}},          {"var", {4}, 0.5f, 2},
                                         {"one", {1}, 2, 2},     {"c", {4, 1, 1}, 0.5f, 2},
                                         {"rows", {4, 1}, 1, 2}, {"fc", {4, 64}},
                                         {"last", {4, 1, 1, 4}}};
  const std::vector<Filled> inputs = {{"x", {4, 4, 4, 4}}, {"z", {4, 4, 4, 4}}, {"row", {4}}};
  for (const char* const begin :
       {R"("Conv" input: "x" input: "w" input: "bias" output: "a" arg { name: "kernel" i: 1 })",
        R"("Conv" input: "x" input: "half" output: "a" arg { name: "kernel" i: 1 }
           arg { name: "group" i: 2 })",
        R"("ConvTranspose" input: "x" input: "half" output: "a" arg { name: "kernel" i: 1 }
           arg { name: "group" i: 2 })",
        R"("Conv" input: "x" input: "last" output: "a" arg { name: "kernel" i: 1 }
           arg { name: "order" s: "NHWC" })",
        R"("FC" input: "x" input: "fc" input: "bias" output: "a")"}) {
    const std::string order = std::string(begin).find("NHWC") != std::string::npos
                                  ? R"(arg { name: "order" s: "NHWC" })"
                                  : "";
    const std::string channels = order.empty() ? "1" : "3";
    const std::string net = MakeString("op { type: ", begin, R"( }
        op { type: "SpatialBN" input: "a" input: "s" input: "bias" input: "mean" input: "var"
             output: "n" arg { name: "is_test" i: 1 } arg { name: "epsilon" f: 0.25 } )",
                                       order, R"( }
        op { type: "Mul" input: "n" input: "s" output: "m" arg { name: "broadcast" i: 1 }
             arg { name: "axis" i: )",
                                       channels, R"( } }
        op { type: "AffineChannel" input: "m" input: "s" input: "bias" output: "e" )",
                                       order, R"( }
        op { type: "Add" input: "e" input: "one" output: "y" })");
    const bool fc = std::string(begin).starts_with("\"FC");
    const char* const operand = fc || !order.empty() ? "s" : "c";
    const std::string flat = MakeString("op { type: ", begin, R"( }
        op { type: "Mul" input: "a" input: ")",
                                        operand, R"(" output: "n" }
        op { type: "Sub" input: "n" input: "one" output: "m" }
        op { type: "Div" input: "m" input: ")",
                                        operand, R"(" output: "e" arg { name: "broadcast" i: 1 } }
        op { type: "Scale" input: "e" output: "y" arg { name: "scale" f: 0.5 } })");
    CompareMany({FoldBatchNorm, fc ? flat : net, constants, inputs, kArithmetic}, 35);
    if (!fc) CompareMany({FoldBatchNorm, flat, constants, inputs, kArithmetic}, 35);
  }
}

TEST_F(ChangedPatternsTest, SumsAndActivationsComputeTheSame) {
  const std::vector<Filled> constants = {{"w", {4, 4, 1, 1}}, {"bias", {4}}};
  const std::vector<Filled> inputs = {{"x", {4, 4, 4, 4}}, {"z", {4, 4, 4, 4}}};
  const char* const net = R"(
      op { type: "Conv" input: "x" input: "w" input: "bias" output: "a" arg { name: "kernel" i: 1 } }
      op { type: "Conv" input: "z" input: "w" output: "b" arg { name: "kernel" i: 1 } }
      op { type: "Sum" input: "a" input: "b" output: "s" }
      op { type: "Relu" input: "s" output: "r" }
      op { type: "Conv" input: "r" input: "w" output: "c" arg { name: "kernel" i: 1 } }
      op { type: "Clip" input: "c" output: "y" arg { name: "max" f: 0.5 } })";
  const std::vector<std::string> types = {"Relu", "Tanh", "Sigmoid", "Sum", "Add", "LeakyRelu"};
  CompareMany({FuseSum, net, constants, inputs, types}, 35);
  CompareMany({FuseActivation, net, constants, inputs, types}, 35);
  CompareMany({[](NetDef from, PassContext& context) {
                 return FuseActivation(FuseActivation(FuseSum(std::move(from), context), context),
                                       context);
               },
               net, constants, inputs, types},
              35);
}

TEST_F(ChangedPatternsTest, CopiesAndReshapesComputeTheSame) {
  const std::vector<Filled> inputs = {{"x", {4, 4}}, {"z", {4, 4}}};
  const char* const net = R"(
      op { type: "Copy" input: "x" output: "a" }
      op { type: "Tanh" input: "a" output: "b" }
      op { type: "Reshape" input: "b" output: "c" output: "old" arg { name: "shape" ints: 2 ints: 8 } }
      op { type: "Dropout" input: "c" output: "d" output: "mask" arg { name: "is_test" i: 1 } }
      op { type: "Reshape" input: "d" output: "e" output: "old2"
           arg { name: "shape" ints: 4 ints: 4 } }
      op { type: "Sum" input: "e" input: "z" output: "f" }
      op { type: "StopGradient" input: "f" output: "g" }
      op { type: "Flatten" input: "g" output: "h" }
      op { type: "Tanh" input: "h" output: "i" }
      op { type: "Copy" input: "i" output: "y" })";
  const std::vector<std::string> types = {"Copy", "Tanh", "Alias", "StopGradient", "Negative"};
  CompareMany({RemoveCopies, net, {}, inputs, types}, 35);
  CompareMany({ReshapeInPlace, net, {}, inputs, types}, 35);
}

}  // namespace
}  // namespace caffe2rt::changed_patterns_test
