// Nets of every pattern that graph passes fuse compute the same on a batch of 0 images with and
// without passes: the same dims, and no error.

#include <functional>
#include <map>

#include "caffe2_core/graph/passes/net_pass.h"
#include "caffe2_core/model/optimizer.h"
#include "caffe2_core/runtime/net.h"
#include "tests/caffe2_core/model/random_nets.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::empty_batch_test {
namespace {

using Dims = std::vector<int64_t>;
using Inputs = std::map<std::string, Dims>;
using test::MakeRandomNet;

// A net with the output "y". Its weights have names that begin with "w".
struct Pattern {
  std::string text = "";
  Inputs inputs = {};  // with a batch of -1
  Inputs weights = {};
  // Blobs that are read besides "y".
  std::set<std::string> kept = {};
};

std::string Op(const std::string& type, const std::vector<std::string>& inputs,
               const std::vector<std::string>& outputs, const std::string& arguments = "") {
  std::string text = "op { type: \"" + type + "\"";
  for (const std::string& input : inputs) text += " input: \"" + input + "\"";
  for (const std::string& output : outputs) text += " output: \"" + output + "\"";
  return text + " " + arguments + " }\n";
}
std::string Int(const std::string& name, int64_t value) {
  return "arg { name: \"" + name + "\" i: " + std::to_string(value) + " } ";
}
std::string Ints(const std::string& name, const Dims& values) {
  std::string text = "arg { name: \"" + name + "\"";
  for (const int64_t value : values) text += " ints: " + std::to_string(value);
  return text + " } ";
}

Dims WithBatch(Dims dims, int64_t batch) {
  for (int64_t& dim : dims) {
    if (dim == -1) dim = batch;
  }
  return dims;
}

class EmptyBatchTest : public testing::Test {
 protected:
  struct Result {
    std::string error;
    std::map<std::string, Dims> dims;
    std::vector<std::string> passes;
  };

  static Result Run(const NetDef& net, const PreparationOptions& options,
                    const std::function<void(Workspace*)>& fill) {
    Result result;
    Workspace ws;
    fill(&ws);
    const Preparation optimized = OptimizeNet(net, options, &ws);
    result.passes = optimized.passes;
    try {
      NetBase* const made = ws.CreateNet(optimized.net);
      for (int i = 0; i < 2; ++i) made->Run();
      for (const std::string& name : options.kept) {
        result.dims[name] = ws.FindBlob(name)->Get<Tensor>().dims();
      }
    } catch (const EnforceNotMet& error) {
      result.error = error.message();
    }
    return result;
  }

  // Runs the net without passes, with all, and if `alone` with each of them. Returns false if the
  // plain net does not run.
  bool Compare(const NetDef& net, PreparationOptions options,
               const std::function<void(Workspace*)>& fill, bool alone = true) {
    std::set<std::string> all;
    for (const NetPassInfo& pass : NetPasses()) all.insert(pass.name);
    options.without_passes = all;
    const Result plain = Run(net, options, fill);
    std::vector<std::set<std::string>> without = {{}};
    for (const std::string& pass : alone ? all : std::set<std::string>()) {
      without.push_back(all);
      without.back().erase(pass);
    }
    for (const std::set<std::string>& left_out : without) {
      options.without_passes = left_out;
      const Result optimized = Run(net, options, fill);
      for (const std::string& pass : optimized.passes) ++applied_[pass];
      if (!plain.error.empty()) continue;
      EXPECT_EQ(optimized.error, "") << net.DebugString();
      EXPECT_EQ(optimized.dims, plain.dims) << net.DebugString();
    }
    return plain.error.empty();
  }

  // Compares the pattern with a batch of 0, and with 2 to prove that it is a net.
  void Compare(const Pattern& pattern) {
    const NetDef net = test::ParseNet(R"(name: "n" external_output: "y" )" + pattern.text);
    for (const int64_t batch : {2, 0}) {
      for (const int64_t told : {-1, 2, 0}) {
        SCOPED_TRACE(testing::Message() << "batch " << batch << ", optimized for " << told);
        PreparationOptions options{.kept = pattern.kept};
        options.kept.insert("y");
        for (const auto& [name, dims] : pattern.inputs) {
          options.inputs.insert(name);
          if (told < 0) continue;
          options.input_shapes[name] = CreateTensorShape(WithBatch(dims, told), TensorProto::FLOAT);
        }
        const bool runs = Compare(
            net, options,
            [&](Workspace* ws) {
              uint32_t seed = 1;
              for (const auto& [name, dims] : pattern.weights) {
                test::FeedRandom(ws, name, dims, 0.5f, 1.5f, seed++);
              }
              for (const auto& [name, dims] : pattern.inputs) {
                test::FeedRandom(ws, name, WithBatch(dims, batch), -1, 1, seed++);
              }
            },
            told < 0 && batch == 0);
        EXPECT_TRUE(runs || batch == 0) << pattern.text;
        ran_empty_ += runs && batch == 0;
        if (HasFailure()) return;
      }
    }
  }

  std::map<std::string, int> applied_;
  int ran_empty_ = 0;
};

// 5 queries and keys, 2 heads of 8 columns.
TEST_F(EmptyBatchTest, AttentionKeepsItsDims) {
  // How the heads are split; the last one has heads already.
  const std::vector<Dims> splits = {{0, 0, 2, 8}, {-1, 5, 2, 8}, {0, 5, 2, 8}, {0, -1, 2, 8}, {}};
  const std::vector<Dims> joins = {{0, 0, 16}, {0, 5, 16}, {-1, 5, 16}, {-1, 16}, {}};
  const std::vector<Dims> masks = {{}, {1, 1, 1, 5}, {-1, 1, 1, 5}, {-1, 2, 5, 5}};
  const auto head = [&](Pattern* pattern, const std::string& name, const Dims& split, bool kept,
                        const Dims& axes) {
    std::string rows = name;
    if (split.empty()) {
      pattern->inputs[name] = {-1, 5, 2, 8};
    } else {
      pattern->inputs[name] = {-1, 5, 16};
      rows = name + "_rows";
      pattern->text += Op("Reshape", {name}, {rows, name + "_old"}, Ints("shape", split));
      if (kept) pattern->kept.insert(rows);
    }
    pattern->text += Op("Transpose", {rows}, {name + "_heads"}, Ints("axes", axes));
  };
  int nets = 0;
  for (const Dims& of_q : splits) {
    for (const Dims& of_k : splits) {
      for (const Dims& of_v : splits) {
        const Dims& join = joins[static_cast<size_t>(nets) % joins.size()];
        const Dims& mask = masks[static_cast<size_t>(nets) % masks.size()];
        Pattern pattern{.weights = {{"w_scale", {1}}}};
        head(&pattern, "q", of_q, nets % 4 == 1, {0, 2, 1, 3});
        head(&pattern, "k", of_k, nets % 3 == 1, {0, 2, 3, 1});
        head(&pattern, "v", of_v, nets % 5 == 1, {0, 2, 1, 3});
        pattern.text += Op("BatchMatMul", {"q_heads", "k_heads"}, {"scores"}) +
                        Op("Mul", {"scores", "w_scale"}, {"scaled"});
        std::string masked = "scaled";
        if (!mask.empty()) {
          pattern.inputs["mask"] = mask;
          masked = "masked";
          pattern.text += Op("Add", {"scaled", "mask"}, {masked});
        }
        pattern.text += Op("Softmax", {masked}, {"p"}, Int("axis", 3)) +
                        Op("BatchMatMul", {"p", "v_heads"}, {"context"}) +
                        Op("Transpose", {"context"}, {join.empty() ? "y" : "joined"},
                           Ints("axes", {0, 2, 1, 3}));
        if (!join.empty()) {
          pattern.text += Op("Reshape", {"joined"}, {"y", "y_old"}, Ints("shape", join));
        }
        SCOPED_TRACE(pattern.text);
        Compare(pattern);
        if (HasFailure()) return;
        ++nets;
      }
    }
  }
  EXPECT_GT(applied_["fuse_attention"], nets);
  EXPECT_GT(ran_empty_, nets);
}

TEST_F(EmptyBatchTest, LayersKeepTheirDims) {
  const Inputs weights = {{"w", {6, 6}}, {"wb", {6}}, {"w1", {1}}};
  const struct {
    std::string op;
    Dims x;
  } kLayers[] = {
      {Op("FC", {"x", "w", "wb"}, {"a"}), {-1, 6}},
      {Op("FC", {"x", "w", "wb"}, {"a"}, Int("axis", 2)), {-1, 3, 6}},
      {Op("FC", {"x", "w", "wb"}, {"a"}), {-1, 3, 2}},
      {Op("FCTransposed", {"x", "w", "wb"}, {"a"}), {-1, 6}},
      {Op("MatMul", {"x", "w"}, {"a"}), {-1, 6}},
      {Op("MatMul", {"x", "w"}, {"a"}, Int("trans_b", 1)), {-1, 6}},
      {Op("BatchMatMul", {"x", "w"}, {"a"}), {-1, 6}},
      {Op("BatchMatMul", {"x", "w"}, {"a"}, Int("broadcast", 1)), {-1, 3, 6}},
      {Op("BatchMatMul", {"x", "w"}, {"a"}, Int("broadcast", 1)), {3, -1, 6}},
  };
  const std::string ends[] = {
      Op("Relu", {"a"}, {"y"}),
      Op("Gelu", {"a"}, {"y"}),
      Op("Add", {"a", "wb"}, {"c"}) + Op("Gelu", {"c"}, {"y"}),
      Op("Add", {"a", "wb"}, {"c"}) + Op("Relu", {"c"}, {"c"}) + Op("Sum", {"c", "a"}, {"y"}),
      Op("Add", {"wb", "a"}, {"a"}) + Op("Relu", {"a"}, {"y"}),
      Op("Mul", {"a", "wb"}, {"c"}) + Op("Sigmoid", {"c"}, {"y"}),
      Op("Div", {"a", "w1"}, {"b"}) + Op("Erf", {"b"}, {"c"}) + Op("Add", {"c", "w1"}, {"d"}) +
          Op("Mul", {"a", "d"}, {"e"}) + Op("Mul", {"e", "w1"}, {"y"}),
  };
  for (const auto& layer : kLayers) {
    for (const std::string& end : ends) {
      SCOPED_TRACE(layer.op + end);
      Compare({.text = layer.op + end, .inputs = {{"x", layer.x}}, .weights = weights});
    }
  }
  EXPECT_GT(applied_["fuse_fc"], 0);
  EXPECT_GT(ran_empty_, 0);
}

TEST_F(EmptyBatchTest, SpeltOutFunctionsKeepTheirDims) {
  // Gelu and layer normalization with the numbers that the passes look for.
  const std::string numbers = R"(
      op { type: "GivenTensorFill" output: "w_root" arg { name: "shape" ints: 1 }
           arg { name: "values" floats: 1.41421356 } }
      op { type: "GivenTensorFill" output: "w_one" arg { name: "shape" ints: 1 }
           arg { name: "values" floats: 1 } }
      op { type: "GivenTensorFill" output: "w_half" arg { name: "shape" ints: 1 }
           arg { name: "values" floats: 0.5 } })";
  const std::string gelu = Op("Add", {"x", "wb"}, {"u"}) + Op("Div", {"u", "w_root"}, {"a"}) +
                           Op("Erf", {"a"}, {"b"}) + Op("Add", {"b", "w_one"}, {"c"}) +
                           Op("Mul", {"u", "c"}, {"d"}) + Op("Mul", {"d", "w_half"}, {"y"});
  const auto norm = [](const std::string& x) {
    return Op("ReduceMean", {x}, {"m"}, Ints("axes", {-1})) + Op("Sub", {x, "m"}, {"d"}) +
           Op("Sqr", {"d"}, {"s"}) + Op("ReduceMean", {"s"}, {"v"}, Ints("axes", {-1})) +
           Op("Add", {"v", "w_eps"}, {"e"}) + Op("Sqrt", {"e"}, {"f"}) +
           Op("Div", {"d", "f"}, {"n"}) + Op("Mul", {"n", "wg"}, {"o"}) +
           Op("Add", {"o", "wb"}, {"y"});
  };
  const std::string layer_norm =
      Op("Add", {"x", "r"}, {"t"}) + Op("LayerNorm", {"t", "wg", "wb"}, {"y", "mean", "std"},
                                        Int("elementwise_affine", 1) + Int("axis", -1));
  const Inputs weights = {{"w_eps", {1}}, {"wg", {6}}, {"wb", {6}}};
  for (const Dims& dims : std::vector<Dims>{{-1, 6}, {-1, 3, 6}, {3, -1, 6}}) {
    Compare({.text = numbers + gelu, .inputs = {{"x", dims}}, .weights = weights});
    Compare({.text = norm("x"), .inputs = {{"x", dims}}, .weights = weights});
    const Inputs both = {{"x", dims}, {"r", dims}};
    Compare({.text = Op("Add", {"x", "r"}, {"t"}) + norm("t"), .inputs = both, .weights = weights});
    Compare({.text = Op("Add", {"x", "r"}, {"t"}) + norm("t"),
             .inputs = both,
             .weights = weights,
             .kept = {"t"}});
    Compare({.text = layer_norm, .inputs = both, .weights = weights});
  }
  EXPECT_GT(applied_["fuse_gelu"], 0);
  EXPECT_GT(applied_["fuse_layer_norm"], 0);
  EXPECT_GT(ran_empty_, 0);
}

TEST_F(EmptyBatchTest, ConvolutionsKeepTheirDims) {
  for (const char* order : {"NCHW", "NHWC"}) {
    const bool nhwc = std::string(order) == "NHWC";
    const std::string arguments =
        Int("kernel", 3) + Int("pad", 1) + "arg { name: \"order\" s: \"" + order + "\" } ";
    const std::string by_order = std::string("arg { name: \"order\" s: \"") + order + "\" } ";
    const Inputs weights = {{"w", nhwc ? Dims{4, 3, 3, 4} : Dims{4, 4, 3, 3}},
                            {"wb", {4}},
                            {"ws", {4}},
                            {"wm", {4}},
                            {"wv", {4}},
                            {"w_slopes", {4}},
                            {"wf", {5, 144}}};
    const Dims x = nhwc ? Dims{-1, 6, 6, 4} : Dims{-1, 4, 6, 6};
    const std::string bn = by_order + Int("is_test", 1);
    const std::vector<std::string> norm = {"ws", "wb", "wm", "wv"};
    for (const char* conv : {"Conv", "ConvTranspose"}) {
      const std::string first = Op(conv, {"x", "w", "wb"}, {"a"}, arguments);
      const std::string ends[] = {
          Op("SpatialBN", {"a", "ws", "wb", "wm", "wv"}, {"b"}, bn) + Op("Relu", {"b"}, {"y"}),
          Op("SpatialBN", {"a", "ws", "wb", "wm", "wv"}, {"a"}, bn) + Op("Relu", {"a"}, {"a"}) +
              Op("Copy", {"a"}, {"y"}),
          Op("AffineChannel", {"a", "ws", "wb"}, {"y"}, by_order),
          Op("Sum", {"a", "x"}, {"b"}) + Op("Relu", {"b"}, {"y"}),
          Op("Add", {"a", "x"}, {"b"}) + Op("Relu", {"b"}, {"b"}) + Op("Copy", {"b"}, {"y"}),
          Op("Clip", {"a"}, {"y"}, "arg { name: \"min\" f: 0 } arg { name: \"max\" f: 6 }"),
          Op("LeakyRelu", {"a"}, {"y"}),
          Op("PRelu", {"a", "w_slopes"}, {"y"}, by_order),
          Op("Sigmoid", {"a"}, {"y"}),
          Op("Relu", {"a"}, {"a"}) + Op("MaxPool", {"a"}, {"b"}, arguments) +
              Op("Conv", {"b", "w"}, {"c"}, arguments) + Op("Sum", {"c", "b"}, {"d"}) +
              Op("Relu", {"d"}, {"d"}) +
              Op("AveragePool", {"d"}, {"y"}, by_order + Int("global_pooling", 1)),
          Op("Concat", {"a", "x"}, {"y", "sizes"}, by_order),
          Op("Relu", {"a"}, {"b"}) + Op("FC", {"b", "wf", "w5"}, {"c"}) +
              Op("Softmax", {"c"}, {"y"}),
          Op("Relu", {"a"}, {"b"}) + Op("Flatten", {"b"}, {"c"}) +
              Op("FC", {"c", "wf", "w5"}, {"y"}),
          Op("Relu", {"a"}, {"b"}) + Op("Reshape", {"b"}, {"c", "old"}, Ints("shape", {-1, 144})) +
              Op("FC", {"c", "wf", "w5"}, {"y"}),
          Op("Relu", {"a"}, {"b"}) + Op("Reshape", {"b"}, {"c", "old"}, Ints("shape", {0, 144})) +
              Op("FC", {"c", "wf", "w5"}, {"y"}),
          Op("Dropout", {"a"}, {"b", "mask"}, Int("is_test", 1)) +
              Op("LRN", {"b"}, {"y"}, by_order + Int("size", 3)),
      };
      for (const std::string& end : ends) {
        SCOPED_TRACE(first + end);
        Inputs all = weights;
        all["w5"] = {5};
        Compare({.text = first + end, .inputs = {{"x", x}}, .weights = all});
      }
    }
  }
  for (const char* pass : {"fold_batch_norm", "fuse_sum", "fuse_activation", "remove_copies"}) {
    EXPECT_GT(applied_[pass], 0) << pass;
  }
  EXPECT_GT(ran_empty_, 0);
}

TEST_F(EmptyBatchTest, ShapesKeepTheirDims) {
  const std::string ends[] = {
      Op("Reshape", {"a"}, {"y", "old"}, Ints("shape", {0, -1})),
      Op("Reshape", {"a"}, {"y", "old"}, Ints("shape", {-1, 6})),
      Op("Reshape", {"a"}, {"y", "old"}, Ints("shape", {0, 0, 3})),
      Op("Reshape", {"a"}, {"y", "old"}, Ints("shape", {0, 0, 0})),
      Op("Flatten", {"a"}, {"y"}),
      Op("FlattenToVec", {"a"}, {"y"}),
      Op("ExpandDims", {"a"}, {"y"}, Ints("dims", {0, 2})),
      Op("ExpandDims", {"a"}, {"b"}, Ints("dims", {1})) +
          Op("Squeeze", {"b"}, {"y"}, Ints("dims", {1})),
      Op("MergeDim", {"a"}, {"y"}),
      Op("Transpose", {"a"}, {"y"}),
  };
  for (const std::string& end : ends) {
    Compare({.text = Op("Relu", {"x"}, {"a"}) + end, .inputs = {{"x", {-1, 2, 3}}}});
  }
  EXPECT_GT(applied_["reshape_in_place"], 0);
}

TEST_F(EmptyBatchTest, RandomNetsKeepTheirDims) {
  int ran = 0;
  constexpr int kNets = 60;
  for (uint32_t seed = 0; seed < kNets && !HasFailure(); ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const test::RandomNet random = MakeRandomNet(seed);
    const PreparationOptions options{.inputs = random.inputs, .kept = random.kept};
    ran += Compare(random.net, options, [&](Workspace* ws) {
      for (test::RandomNet::Filled blob : random.filled) {
        const bool has_batch = blob.name == "data" || blob.name.starts_with("state");
        if (has_batch) blob.dims[0] = 0;
        test::FeedRandom(ws, blob.name, blob.dims, blob.low, blob.high, blob.seed);
      }
    });
  }
  EXPECT_GT(ran, kNets / 2);
}

}  // namespace
}  // namespace caffe2rt::empty_batch_test
