// Nets that passes replace, on inputs of all small shapes: scalars, vectors, several matrices, ones
// and zeros. What a pass makes of a net accepts the inputs that the net accepts, and no others, and
// its results have the same dims and values.
#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "caffe2_core/base/float16.h"
#include "caffe2_core/graph/passes/fold_batch_norm.h"
#include "caffe2_core/graph/passes/fuse_activation.h"
#include "caffe2_core/graph/passes/fuse_attention.h"
#include "caffe2_core/graph/passes/fuse_fc.h"
#include "caffe2_core/graph/passes/fuse_gelu.h"
#include "caffe2_core/graph/passes/fuse_layer_norm.h"
#include "caffe2_core/graph/passes/fuse_sum.h"
#include "caffe2_core/graph/passes/remove_copies.h"
#include "caffe2_core/graph/passes/reshape_in_place.h"
#include "caffe2_core/runtime/net.h"
#include "tests/caffe2_core/graph/passes/pass_run.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::other_dims_test {
namespace {

using Dims = std::vector<int64_t>;
using Pass = NetDef (*)(NetDef, PassContext&);

struct Input {
  std::string name;
  std::vector<Dims> dims;
};

// All shapes of up to `rank` dimensions of these sizes.
std::vector<Dims> AllDims(size_t rank, const Dims& sizes) {
  std::vector<Dims> all = {{}};
  for (size_t first = 0; rank > 0; --rank) {
    const size_t end = all.size();
    for (; first < end; ++first) {
      for (const int64_t size : sizes) {
        Dims longer = all[first];
        longer.push_back(size);
        all.push_back(longer);
      }
    }
  }
  return all;
}

class OtherDimsTest : public testing::Test {
 protected:
  OtherDimsTest() {
    for (const auto& [name, value] :
         std::initializer_list<std::pair<const char*, float>>{{"root", 1.41421354f},
                                                              {"inverse", 0.707106769f},
                                                              {"one", 1},
                                                              {"half", 0.5f},
                                                              {"two", 2},
                                                              {"zero", 0},
                                                              {"eps", 0.125f}}) {
      test::Feed<float>(&run_.ws, name, {}, {value});
      test::Feed<float>(&run_.ws, std::string(name) + "1", {1}, {value});
    }
    for (const auto& [name, dims] :
         std::initializer_list<std::pair<const char*, Dims>>{{"w", {3, 2}},
                                                             {"v", {2, 3}},
                                                             {"column", {3, 1}},
                                                             {"row", {1, 3}},
                                                             {"b1", {1}},
                                                             {"b2", {2}},
                                                             {"b3", {3}},
                                                             {"g3", {3}},
                                                             {"s1", {1, 1}}}) {
      test::FeedRandom(&run_.ws, name, dims, 0.5f, 2, seed_++);
    }
  }

  struct Result {
    Dims dims;
    TypeMeta type;
    std::vector<float> values;  // of floats
  };
  // The kept blobs after a run, or none if an operator throws.
  std::optional<std::vector<Result>> Run(NetBase* net, std::string* error) {
    try {
      EXPECT_TRUE(net->Run());
    } catch (const EnforceNotMet& e) {
      *error = e.what();
      return std::nullopt;
    }
    std::vector<Result> results;
    for (const std::string& name : run_.kept) {
      const Tensor& tensor = run_.ws.GetBlob(name)->Get<Tensor>();
      results.push_back({tensor.dims(), tensor.dtype(), {}});
      if (tensor.IsType<float>()) results.back().values = test::Fetch<float>(run_.ws, name);
    }
    return results;
  }

  struct Nets {
    std::unique_ptr<NetBase> plain, passed;
  };
  // The net, and what the pass made of it.
  Nets Create(const NetDef& plain) {
    return {CreateNet(plain, &run_.ws), CreateNet(run_.net, &run_.ws)};
  }

  void Compare(const Nets& nets, const std::string& inputs) {
    SCOPED_TRACE(inputs);
    std::string plain_error, error;
    const auto want = Run(nets.plain.get(), &plain_error);
    const auto got = Run(nets.passed.get(), &error);
    ASSERT_EQ(got.has_value(), want.has_value()) << plain_error << error;
    accepted_ += want.has_value();
    for (size_t i = 0; want && i < want->size(); ++i) {
      ASSERT_EQ((*got)[i].dims, (*want)[i].dims);
      ASSERT_TRUE((*got)[i].type == (*want)[i].type);
      for (size_t k = 0; k < (*want)[i].values.size(); ++k) {
        const double a = double{(*got)[i].values[k]}, b = double{(*want)[i].values[k]};
        if (std::isnan(a) && std::isnan(b)) continue;
        ASSERT_LE(std::abs(a - b), 1e-4 * std::max(1.0, std::abs(b))) << i << " " << k;
      }
    }
  }

  // Runs the net and what the pass makes of it on all inputs. Fails unless the pass makes
  // `operators` operators of it.
  void CompareAll(Pass pass, const std::string& text, const std::vector<Input>& inputs,
                  int operators) {
    SCOPED_TRACE(text);
    const NetDef plain = test::ParseNet(text);
    for (const auto& op : plain.op()) {
      for (const std::string& output : op.output()) run_.ws.RemoveBlob(output);
    }
    for (const Input& input : inputs) run_.ws.RemoveBlob(input.name);
    run_(pass, text);
    EXPECT_EQ(run_.net.op_size(), operators) << run_.net.DebugString();
    for (const Input& input : inputs) run_.ws.CreateBlob(input.name);
    const Nets nets = Create(plain);
    std::vector<size_t> at(inputs.size());
    for (size_t i = 0; i < at.size() && !HasFatalFailure();) {
      std::string shapes;
      for (size_t k = 0; k < inputs.size(); ++k) {
        const Dims& dims = inputs[k].dims[at[k]];
        test::FeedRandom(&run_.ws, inputs[k].name, dims, -2, 2, seed_++);
        shapes += MakeString(inputs[k].name, " ", IntArrayRef(dims), " ");
      }
      Compare(nets, shapes);
      for (i = 0; i < at.size() && ++at[i] == inputs[i].dims.size(); ++i) at[i] = 0;
    }
  }

  // Runs the net and what the pass makes of it on an input of other types.
  void CompareTypes(Pass pass, const std::string& text, const Dims& dims) {
    SCOPED_TRACE(text);
    const NetDef plain = test::ParseNet(text);
    run_.ws.RemoveBlob("x");
    run_(pass, text);
    run_.ws.CreateBlob("x");
    const Nets nets = Create(plain);
    test::Feed<double>(&run_.ws, "x", dims, std::vector<double>(6, 0.5));
    Compare(nets, "doubles");
    test::Feed<int32_t>(&run_.ws, "x", dims, std::vector<int32_t>(6, 3));
    Compare(nets, "int32");
    test::Feed<int64_t>(&run_.ws, "x", dims, std::vector<int64_t>(6, 3));
    Compare(nets, "int64");
    test::Feed<float16>(&run_.ws, "x", dims, std::vector<float16>(6, float16(0.5f)));
    Compare(nets, "halves");
    test::Feed<bool>(&run_.ws, "x", dims, {true, false, true, true, true, false});
    Compare(nets, "bools");
  }

  test::PassRun run_;
  uint32_t seed_ = 1;
  int accepted_ = 0;
};

std::string Op(const std::string& type, const std::string& inputs, const std::string& output,
               const std::string& args = "") {
  std::string text = "op { type: \"" + type + "\"";
  for (size_t i = 0; i < inputs.size();) {
    const size_t end = std::min(inputs.find(' ', i), inputs.size());
    text += " input: \"" + inputs.substr(i, end - i) + "\"";
    i = end + 1;
  }
  return text + " output: \"" + output + "\" " + args + " } ";
}

std::string Int(const std::string& name, int value) {
  return MakeString("arg { name: \"", name, "\" i: ", value, " } ");
}

std::string Ints(const std::string& name, std::initializer_list<int> values) {
  std::string text = "arg { name: \"" + name + "\"";
  for (const int value : values) text += MakeString(" ints: ", value);
  return text + " } ";
}

const std::string kOlder = Int("broadcast", 1);

TEST_F(OtherDimsTest, LayersAcceptWhatTheirNetAccepts) {
  std::vector<Dims> dims = AllDims(3, {0, 1, 2, 3});
  for (const Dims& more : {Dims{1, 1, 2, 3}, {2, 1, 1, 3}, {1, 2, 1, 3}, {0, 1, 2, 3}}) {
    dims.push_back(more);
  }
  const std::vector<Input> x = {{"x", dims}};
  const std::string layers[] = {
      Op("BatchMatMul", "x w", "a"),
      Op("BatchMatMul", "x w", "a", Int("broadcast", 1)),
      Op("BatchMatMul", "x v", "a", Int("trans_b", 1)),
      Op("BatchMatMul", "x v", "a", Int("trans_b", 1) + Int("broadcast", 1)),
      Op("MatMul", "x w", "a"),
      Op("MatMul", "x v", "a", Int("trans_b", 1)),
      Op("FC", "x v b2", "a"),
      Op("FC", "x v b2", "a", Int("axis", 2)),
      Op("FC", "x v b2", "a", Int("axis", -1)),
      Op("FCTransposed", "x w b2", "a", Int("axis", 0)),
  };
  for (const std::string& layer : layers) {
    const bool has_bias = layer.find("\"b2\"") != std::string::npos;
    CompareAll(FuseFC, layer + Op("Gelu", "a", "y"), x, 1);
    CompareAll(FuseFC, layer + Op("Add", "a b2", "y"), x, has_bias ? 2 : 1);
    CompareAll(FuseFC, layer + Op("Add", "b2 a", "y"), x, has_bias ? 2 : 1);
    CompareAll(FuseFC, layer + Op("Add", "a b2", "y", kOlder), x, has_bias ? 2 : 1);
    CompareAll(FuseFC, layer + Op("Add", "b2 a", "y", kOlder), x, 2);
  }
  for (const std::string& layer :
       {Op("BatchMatMul", "x column", "a"), Op("MatMul", "x column", "a"),
        Op("BatchMatMul", "x row", "a", Int("broadcast", 1) + Int("trans_b", 1))}) {
    for (const std::string& bias :
         {Op("Add", "a b1", "y"), Op("Add", "b1 a", "y"), Op("Add", "a b1", "y", kOlder)}) {
      CompareAll(FuseFC, layer + bias, x, 1);
    }
    CompareAll(FuseFC, layer + Op("Add", "b1 a", "y", kOlder), x, 2);
  }
  EXPECT_GT(accepted_, 300);
}

// Without the numbers of rank 1, x may be a scalar.
TEST_F(OtherDimsTest, GeluAcceptsWhatItsNetAccepts) {
  const std::vector<Input> x = {{"x", AllDims(2, {0, 1, 3})}};
  const std::vector<std::string> names = {"root", "one", "half"};
  for (int ranks = 0; ranks < 8; ++ranks) {
    for (int older = 0; older < 8; ++older) {
      const auto name = [&](size_t i) { return names[i] + (ranks >> i & 1 ? "1" : ""); };
      const auto args = [&](size_t i) { return older >> i & 1 ? kOlder : ""; };
      const std::string net = Op("Div", "x " + name(0), "a", args(0)) + Op("Erf", "a", "b") +
                              Op("Add", "b " + name(1), "c", args(1)) + Op("Mul", "x c", "d") +
                              Op("Mul", "d " + name(2), "y", args(2));
      CompareAll(FuseGelu, net, x, (ranks & ~older) == 0 ? 1 : 5);
      const std::string swapped = Op("Mul", "x half", "h") + Op("Mul", "inverse x", "a", args(0)) +
                                  Op("Erf", "a", "b") + Op("Add", name(1) + " b", "c", args(1)) +
                                  Op("Mul", "h c", "y", args(2));
      CompareAll(FuseGelu, swapped, x, (older & 3) == 0 && (ranks & 2) == 0 ? 1 : 5);
    }
  }
}

// A layer, or an operand of rank 1, before the Gelu proves that x has a dimension.
TEST_F(OtherDimsTest, GeluOfLayersAcceptsWhatItsNetAccepts) {
  const std::vector<Input> u = {{"u", AllDims(3, {0, 1, 2, 3})}};
  const std::string gelu = Op("Div", "x root1", "a") + Op("Erf", "a", "b") +
                           Op("Add", "one1 b", "c") + Op("Mul", "x c", "d") +
                           Op("Mul", "d half1", "y");
  for (const std::string& layer :
       {Op("BatchMatMul", "u w", "x", Int("broadcast", 1)), Op("FC", "u v b2", "x"),
        Op("Add", "u b3", "x"), Op("Mul", "b1 u", "x"), Op("FCFusion", "u v", "x")}) {
    CompareAll(FuseGelu, layer + gelu, u, 2);
    CompareAll(FuseGelu, layer + Op("Tanh", "x", "x") + gelu, u, 3);
  }
  for (const std::string& other : {Op("Add", "u b3", "x", kOlder), Op("Tanh", "u", "x"),
                                   Op("Mul", "u one", "x"), Op("SumElements", "u", "x")}) {
    CompareAll(FuseGelu, other + gelu, u, 6);
  }
  // A layer that is far away is not looked for: many Gelus may have the same operators before them.
  std::string far = Op("FC", "u v b2", "x");
  for (int i = 0; i < 70; ++i) far += Op("Tanh", "x", "x");
  CompareAll(FuseGelu, far + gelu, {{"u", {{2, 3}}}}, 76);
}

TEST_F(OtherDimsTest, LayerNormAcceptsWhatItsNetAccepts) {
  const std::vector<Dims> dims = AllDims(3, {0, 1, 2, 3});
  const std::vector<Dims> few = {{},     {1},    {3},       {1, 1},   {2, 1},
                                 {2, 3}, {1, 3}, {2, 2, 1}, {2, 2, 3}};
  const std::string mean = Op("ReduceMean", "x", "m", Ints("axes", {-1})) + Op("Sub", "x m", "d");
  const std::string root = Op("Sqr", "d", "s") + Op("ReduceMean", "s", "v", Ints("axes", {-1})) +
                           Op("Add", "v eps1", "e") + Op("Sqrt", "e", "f");
  const std::string normal = mean + root + Op("Div", "d f", "n");
  const std::string affine = Op("Mul", "n g3", "o") + Op("Add", "o b3", "y");
  CompareAll(FuseLayerNorm, normal + affine, {{"x", dims}}, 1);
  CompareAll(FuseLayerNorm, normal + Op("Mul", "n g3", "o", kOlder) + Op("Add", "o b3", "y"),
             {{"x", dims}}, 1);
  CompareAll(FuseLayerNorm, normal + Op("Mul", "n g3", "o") + Op("Add", "o b3", "y", kOlder),
             {{"x", dims}}, 1);
  CompareAll(FuseLayerNorm, normal + Op("Mul", "g3 n", "o", kOlder) + Op("Add", "o b3", "y"),
             {{"x", dims}}, 9);
  CompareAll(FuseLayerNorm, Op("Add", "r q", "x") + normal + affine, {{"r", few}, {"q", few}}, 1);
  CompareAll(FuseLayerNorm, Op("Add", "r q", "x", kOlder) + normal + affine,
             {{"r", few}, {"q", few}}, 2);
  run_.kept = {"y", "z"};
  CompareAll(FuseLayerNorm, Op("Add", "r q", "x") + normal + affine + Op("Tanh", "x", "z"),
             {{"r", few}, {"q", few}}, 2);
}

TEST_F(OtherDimsTest, LayerNormOfOtherAxesAcceptsWhatItsNetAccepts) {
  const std::vector<Dims> dims = AllDims(3, {0, 1, 2, 3});
  for (const int axis : {0, 1, 2}) {
    for (const std::string& older : {std::string(), kOlder}) {
      const std::string net =
          Op("ReduceMean", "x", "m", Ints("axes", {axis})) + Op("Sub", "x m", "d", older) +
          Op("Mul", "d d", "s", older) + Op("ReduceMean", "s", "v", Ints("axes", {axis})) +
          Op("Add", "v eps1", "e", older) + Op("Rsqrt", "e", "f") + Op("Mul", "d f", "n", older) +
          Op("Mul", "n g3", "o") + Op("Add", "b3 o", "y");
      CompareAll(FuseLayerNorm, net, {{"x", dims}}, older.empty() ? 1 : 9);
    }
  }
  const std::string rows = kOlder + Int("axis", 0);
  for (const std::string& older : {std::string(), kOlder}) {
    CompareAll(FuseLayerNorm,
               Op("ReduceBackMean", "x", "m") + Op("Sub", "x m", "d", rows) + Op("Sqr", "d", "s") +
                   Op("ReduceBackMean", "s", "v") + Op("Add", "v eps1", "e", older) +
                   Op("Pow", "e half1", "f", kOlder) + Op("Div", "d f", "n", rows) +
                   Op("Mul", "n g3", "o", older) + Op("Add", "o b3", "y", older),
               {{"x", dims}}, 1);
  }
  const std::string statistics = R"("y" output: "mean" output: "std")";
  for (const int axis : {-1, 0, 1, 2}) {
    const std::string norm = test::Replaced(
        Op("LayerNorm", "x g3 b3", "y", Int("axis", axis) + Int("elementwise_affine", 1)), "\"y\"",
        statistics);
    CompareAll(FuseLayerNorm, norm, {{"x", dims}}, 1);
    CompareAll(FuseLayerNorm, Op("Add", "r q", "x") + norm,
               {{"r", AllDims(2, {1, 2, 3})}, {"q", {{}, {1}, {3}, {1, 3}, {2, 1}}}}, 1);
  }
}

TEST_F(OtherDimsTest, AttentionAcceptsWhatItsNetAccepts) {
  const std::vector<Dims> operands = {{1, 2, 3, 2}, {2, 2, 3, 2}, {2, 2, 1, 2}, {1, 2, 1, 2},
                                      {0, 2, 1, 2}, {2, 0, 1, 2}, {2, 3, 2},    {1, 2, 2, 1}};
  const std::vector<Dims> masks = {
      {},        {1},          {2},          {2, 2},       {2, 1},         {1, 1, 2},
      {3, 1, 2}, {2, 1, 1, 2}, {1, 3, 2, 2}, {2, 3, 2, 2}, {1, 1, 1, 1, 1}};
  const auto net = [](const std::string& keys, const std::string& values, const std::string& mask) {
    return Op("Transpose", "q", "qt", Ints("axes", {0, 2, 1, 3})) +
           Op("Transpose", "k", "kt", Ints("axes", {0, 2, 3, 1})) +
           Op("Transpose", "v", "vt", Ints("axes", {0, 2, 1, 3})) +
           Op("BatchMatMul", "qt kt", "scores", keys) + Op("Mul", "scores half1", "scaled") + mask +
           Op("Softmax", "masked", "p", Int("axis", 3)) + Op("BatchMatMul", "p vt", "c", values) +
           Op("Transpose", "c", "y", Ints("axes", {0, 2, 1, 3}));
  };
  const std::string add = Op("Add", "scaled mask", "masked");
  const std::string no_mask = Op("Mul", "one scaled", "masked");
  for (const std::string& keys : {std::string(), kOlder}) {
    for (const std::string& values : {std::string(), kOlder}) {
      CompareAll(FuseAttention, net(keys, values, no_mask),
                 {{"q", operands}, {"k", operands}, {"v", operands}}, 1);
      if (keys != values) continue;
      const std::vector<Dims> few(operands.begin(), operands.begin() + 4);
      CompareAll(FuseAttention, net(keys, values, add),
                 {{"q", few}, {"k", few}, {"v", {few[1], few[2]}}, {"mask", masks}}, 1);
    }
  }
  const std::vector<Dims> few(operands.begin(), operands.begin() + 2);
  CompareAll(FuseAttention, net(kOlder, kOlder, Op("Add", "scaled mask", "masked", kOlder)),
             {{"q", few}, {"k", few}, {"v", few}, {"mask", masks}}, 9);
}

// Operands without a batch: [rows, heads, columns].
TEST_F(OtherDimsTest, AttentionWithoutBatchesAcceptsWhatItsNetAccepts) {
  const std::vector<Dims> operands = {{2, 3, 2}, {2, 1, 2}, {1, 1, 2}, {1, 2, 3, 2}};
  const std::vector<Dims> masks = {{},           {2},          {2, 1},      {3, 1, 2},
                                   {1, 1, 1, 2}, {1, 3, 2, 2}, {2, 3, 2, 2}};
  for (const std::string& keys : {std::string(), kOlder}) {
    for (const std::string& values : {std::string(), kOlder}) {
      for (const std::string& end :
           {Op("Transpose", "c", "y", Ints("axes", {1, 0, 2})),
            Op("Transpose", "c", "ct", Ints("axes", {1, 0, 2})) +
                R"(op { type: "Reshape" input: "ct" output: "y" output: "old"
                        arg { name: "shape" ints: -1 ints: 2 } })"}) {
        CompareAll(FuseAttention,
                   Op("Transpose", "q", "qt", Ints("axes", {1, 0, 2})) +
                       Op("Transpose", "k", "kt", Ints("axes", {1, 2, 0})) +
                       Op("Transpose", "v", "vt", Ints("axes", {1, 0, 2})) +
                       Op("BatchMatMul", "qt kt", "scores", keys) +
                       Op("Add", "mask scores", "masked") +
                       Op("Softmax", "masked", "p", Int("axis", 2)) +
                       Op("BatchMatMul", "p vt", "c", values) + end,
                   {{"q", operands}, {"k", operands}, {"v", operands}, {"mask", masks}}, 1);
      }
    }
  }
}

// What folds into a layer or a convolution must accept the ranks of its output.
TEST_F(OtherDimsTest, FoldedOperatorsAcceptWhatTheirNetAccepts) {
  test::FeedRandom(&run_.ws, "f4", {2, 3, 1, 1}, -1, 1, 31);
  test::FeedRandom(&run_.ws, "f3", {2, 3, 1}, -1, 1, 32);
  test::FeedRandom(&run_.ws, "c2", {2, 1}, 0.5f, 2, 33);
  test::FeedRandom(&run_.ws, "c3", {2, 1, 1}, 0.5f, 2, 34);
  const std::vector<Dims> images = {{2, 3, 2, 4}, {0, 3, 2, 4}, {1, 3, 1, 1},    {3, 4, 4},
                                    {2, 3, 4},    {1, 3, 4, 1}, {1, 3, 4, 4, 4}, {2, 2, 4, 4},
                                    {2, 3, 2, 0}, {3}};
  const std::string bn = Op("SpatialBN", "a b2 b2 b2 b2", "y", Int("is_test", 1));
  const std::string last[] = {bn,
                              Op("AffineChannel", "a b2 b2", "y"),
                              Op("Mul", "a b2", "y"),
                              Op("Mul", "a b2", "y", kOlder),
                              Op("Mul", "b2 a", "y", kOlder),
                              Op("Sub", "a b2", "y", kOlder + Int("axis", 1)),
                              Op("Add", "c2 a", "y"),
                              Op("Div", "a c3", "y"),
                              Op("Add", "one a", "y"),
                              Op("Add", "a s1", "y"),
                              Op("Scale", "a", "y", R"(arg { name: "scale" f: 0.5 })")};
  const auto compare = [&](const std::string& layer, const std::vector<Dims>& dims) {
    for (const std::string& op : last) {
      run_(FoldBatchNorm, layer + op);
      CompareAll(FoldBatchNorm, layer + op, {{"x", dims}}, run_.net.op_size());
    }
  };
  compare(Op("Conv", "x f4", "a", Int("kernel", 1)), images);
  compare(Op("Conv", "x f3 b2", "a", Ints("kernels", {1})), images);
  const std::vector<Dims> rows = AllDims(3, {0, 1, 2, 3});
  compare(Op("FC", "x v b2", "a"), rows);
  compare(Op("FC", "x v b2", "a", Int("axis", 2)), rows);
  const auto convs = [&](const std::string& args) {
    return Op("Conv", "x f4 b2", "a", Int("kernel", 1)) + Op("Sum", args, "y");
  };
  CompareAll(FuseSum, convs("a r"), {{"x", images}, {"r", {{2, 2, 2, 4}, {2, 2, 1, 1}, {}, {4}}}},
             1);
  CompareAll(FuseActivation,
             Op("Conv", "x f3 b2", "a", Ints("kernels", {1})) + Op("Relu", "a", "y"),
             {{"x", images}}, 1);
  CompareAll(FuseActivation, Op("FC", "x v b2", "a") + Op("Sigmoid", "a", "y"), {{"x", rows}}, 1);
}

TEST_F(OtherDimsTest, CopiesAndReshapesAcceptWhatTheirNetAccepts) {
  const std::vector<Input> x = {{"x", AllDims(3, {0, 1, 2, 3})}};
  CompareAll(RemoveCopies, Op("Copy", "x", "a") + Op("Transpose", "a", "y", Ints("axes", {1, 0})),
             x, 1);
  CompareAll(RemoveCopies, Op("Sum", "x", "a") + Op("Squeeze", "a", "y", Ints("dims", {0})), x, 1);
  CompareAll(ReshapeInPlace, Op("Tanh", "x", "a") + Op("ExpandDims", "a", "y", Ints("dims", {1})),
             x, 2);
  CompareAll(ReshapeInPlace, Op("Tanh", "x", "a") + Op("Squeeze", "a", "y", Ints("dims", {1})), x,
             2);
}

// Without operators that pass any tensor on, as Sum of one input: they are removed for every type.
TEST_F(OtherDimsTest, InputsOfOtherTypesAreAcceptedAsByTheirNet) {
  test::FeedRandom(&run_.ws, "f3", {2, 3, 1}, -1, 1, 32);
  const std::string mean = Op("ReduceMean", "x", "m", Ints("axes", {-1})) + Op("Sub", "x m", "d");
  const std::string nets[] = {
      Op("BatchMatMul", "x w", "a") + Op("Add", "a b2", "y"),
      Op("FC", "x v b2", "a") + Op("Relu", "a", "y"),
      Op("Div", "x root", "a") + Op("Erf", "a", "b") + Op("Add", "b one", "c") +
          Op("Mul", "x c", "d") + Op("Mul", "d half", "y"),
      mean + Op("Sqr", "d", "s") + Op("ReduceMean", "s", "v", Ints("axes", {-1})) +
          Op("Add", "v eps", "e") + Op("Sqrt", "e", "f") + Op("Div", "d f", "n") +
          Op("Mul", "n g3", "o") + Op("Add", "o b3", "y"),
      test::Replaced(Op("LayerNorm", "x g3 b3", "y", Int("axis", 1) + Int("elementwise_affine", 1)),
                     "\"y\"", R"("y" output: "mean" output: "std")"),
      Op("Copy", "x", "a") + Op("Relu", "a", "y"),
      Op("Scale", "x", "a", R"(arg { name: "scale" f: 1 })") + Op("Negative", "a", "y"),
      Op("Cast", "x", "a", Int("to", 1)) + Op("Negative", "a", "y"),
      Op("Conv", "x f3 b2", "a", Ints("kernels", {1})) + Op("Mul", "a half", "y"),
      Op("Negative", "x", "a") + Op("ExpandDims", "a", "y", Ints("dims", {0})),
  };
  for (const Pass pass : {FuseFC, FuseGelu, FuseLayerNorm, FoldBatchNorm, FuseActivation,
                          RemoveCopies, ReshapeInPlace}) {
    for (const std::string& net : nets) CompareTypes(pass, net, {2, 3});
    CompareTypes(pass, nets[8], {1, 3, 2});
  }
}

}  // namespace
}  // namespace caffe2rt::other_dims_test
