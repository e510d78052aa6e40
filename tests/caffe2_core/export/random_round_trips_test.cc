// Operators with random shapes and arguments compute the same as models of ONNX, in any opset, with
// inputs or weights.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/runtime/workspace.h"
#include "tests/support/onnx_round_trip.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::random_round_trips_test {
namespace {

using Dims = std::vector<int64_t>;

struct TriedOp {
  std::string type;
  std::string args = {};
  std::vector<Dims> inputs = {};
  int outputs = 1;
  int integers = -1;  // the input that has integers from 0 to 2
};

class Choices {
 public:
  explicit Choices(uint32_t seed) : random_(seed) {}
  int64_t Number(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random_() % static_cast<uint64_t>(high - low + 1));
  }
  bool Flag() { return Number(0, 1) == 1; }
  Dims Shape(int64_t low, int64_t high) {
    Dims dims(static_cast<size_t>(Number(low, high)));
    for (int64_t& dim : dims) dim = Number(1, 4);
    return dims;
  }
  template <class T>
  T Of(const std::vector<T>& list) {
    return list[static_cast<size_t>(Number(0, static_cast<int64_t>(list.size()) - 1))];
  }

 private:
  std::mt19937 random_;
};

std::string Arg(const std::string& name, int64_t value) {
  return MakeString(" arg { name: '", name, "' i: ", value, " }");
}
std::string Arg(const std::string& name, const std::string& text) {
  return MakeString(" arg { name: '", name, "' s: '", text, "' }");
}
std::string Float(const std::string& name, double value) {
  return MakeString(" arg { name: '", name, "' f: ", value, " }");
}
std::string List(const std::string& name, const Dims& values) {
  std::string text = " arg { name: '" + name + "'";
  for (const int64_t value : values) text += MakeString(" ints: ", value);
  return text + " }";
}

// --- one function for each kind of operator ---

TriedOp Window(Choices& c) {
  const int64_t axes = c.Number(1, 3);
  const bool last = c.Flag(), conv = c.Flag(), transposed = conv && axes == 2 && c.Flag();
  const int64_t group = conv ? c.Number(1, 2) : 1, in = group * c.Number(1, 3),
                out = group * c.Number(1, 2);
  Dims kernel, x, spatial;
  std::string args;
  for (int64_t i = 0; i < axes; ++i) {
    kernel.push_back(c.Number(1, 3));
    spatial.push_back(c.Number(5, 8));
  }
  x = {2};
  if (!last) x.push_back(in);
  x.insert(x.end(), spatial.begin(), spatial.end());
  if (last) x.push_back(in);
  args += List("kernels", kernel);
  Dims strides, dilations, pads;
  for (int64_t i = 0; i < axes; ++i) {
    strides.push_back(c.Number(1, 3));
    dilations.push_back(conv && !transposed ? c.Number(1, 2) : 1);
  }
  for (int64_t i = 0; i < 2 * axes; ++i)
    pads.push_back(c.Number(0, kernel[static_cast<size_t>(i % axes)] - 1));
  if (c.Flag()) args += List("strides", strides);
  if (c.Flag()) args += List("dilations", dilations);
  if (c.Flag()) args += List("pads", pads);
  if (last) args += Arg("order", "NHWC");
  if (!conv) {
    std::string type = c.Flag() ? "MaxPool" : "AveragePool";
    if (type == "AveragePool" && c.Flag()) args += Arg("count_include_pad", 1);
    if (c.Number(0, 4) == 0) args = Arg("global_pooling", 1) + (last ? Arg("order", "NHWC") : "");
    return {type + (axes == 2 ? "" : MakeString(axes, "D")), args, {x}};
  }
  args += Arg("group", group);
  Dims w;
  if (transposed) {
    w = {in};
    if (!last) w.push_back(out / group);
  } else {
    w = {out};
    if (!last) w.push_back(in / group);
  }
  w.insert(w.end(), kernel.begin(), kernel.end());
  if (last) w.push_back(transposed ? out / group : in / group);
  if (transposed && c.Flag()) {
    Dims adj;
    for (int64_t i = 0; i < axes; ++i) adj.push_back(c.Number(0, 1));
    args += List("adjs", adj);
  }
  std::vector<Dims> inputs = {x, w};
  if (c.Flag()) inputs.push_back({out});
  return {transposed ? "ConvTranspose" : "Conv", args, inputs};
}

TriedOp Image(Choices& c) {
  const bool last = c.Flag();
  const Dims x = c.Of<Dims>({{1, 4, 3, 5}, {2, 2, 4, 6}, {1, 6, 2, 2}});
  const int64_t channels = last ? x[3] : x[1];
  const std::string order = last ? Arg("order", "NHWC") : "";
  switch (c.Number(0, 5)) {
    case 0:
      return {"PadImage",
              order + Arg("pad_t", c.Number(0, 1)) + Arg("pad_l", c.Number(0, 1)) +
                  Arg("pad_b", c.Number(0, 1)) + Arg("pad_r", c.Number(0, 1)) +
                  Arg("mode", c.Of<std::string>({"constant", "reflect", "edge"})) +
                  Float("value", 1.5),
              {x}};
    case 1:
      return {"ResizeNearest",
              order + Float("height_scale", c.Of<double>({0.5, 1, 2, 3, 1.5})) +
                  Float("width_scale", c.Of<double>({0.5, 1, 2, 3, 1.5})),
              {x}};
    case 2:
      return {"UpsampleBilinear",
              Float("height_scale", c.Of<double>({1, 2, 3, 1.5})) +
                  Float("width_scale", c.Of<double>({1, 2, 3, 1.5})),
              {x}};
    case 3:
      return {"ChannelShuffle",
              order +
                  Arg("group", c.Of<int64_t>(channels % 2 == 0 ? std::vector<int64_t>{1, 2}
                                                               : std::vector<int64_t>{1})) +
                  Arg("kernel", 1),
              {x}};
    case 4:
      return {"InstanceNorm",
              order + Float("epsilon", c.Of<double>({1e-5, 0.5, 1e-7})),
              {x, {channels}, {channels}}};
    default:
      return {"LRN",
              order + Arg("size", c.Of<int64_t>({1, 3, 5})) + Float("alpha", 0.5) +
                  Float("beta", 0.75) + Float("bias", c.Of<double>({1, 2})),
              {x}};
  }
}

TriedOp Norm(Choices& c) {
  const bool last = c.Flag();
  const Dims x = c.Of<Dims>({{2, 4}, {2, 4, 4}, {2, 4, 3, 4}, {2, 4, 3, 2, 4}});
  const std::string order = last ? Arg("order", "NHWC") : "";
  const std::string epsilon = c.Flag() ? Float("epsilon", c.Of<double>({1e-6, 0.25})) : "";
  if (c.Flag() && x.size() > 2) {
    return {"GroupNorm", order + epsilon + Arg("group", c.Of<int64_t>({1, 2, 4})), {x, {4}, {4}}};
  }
  if (c.Flag()) {
    const int64_t axis = c.Number(1, static_cast<int64_t>(x.size()) - 1);
    Dims rest(x.begin() + axis, x.end());
    std::vector<Dims> inputs = {x};
    if (c.Flag()) inputs.insert(inputs.end(), {rest, rest});
    return {"LayerNorm",
            epsilon + Arg("axis", c.Flag() ? axis : axis - static_cast<int64_t>(x.size())) +
                (inputs.size() > 1 ? Arg("elementwise_affine", 1) : ""),
            inputs, 3};
  }
  return {"SpatialBN", order + epsilon + Arg("is_test", 1), {x, {4}, {4}, {4}, {4}}};
}

TriedOp Matrix(Choices& c) {
  const int64_t m = c.Number(1, 4), k = c.Number(1, 4), n = c.Number(1, 4);
  if (c.Flag()) {
    const bool a = c.Flag(), b = c.Flag();
    Dims x = a ? Dims{k, m} : Dims{m, k}, y = b ? Dims{n, k} : Dims{k, n};
    std::string args = (a ? Arg("trans_a", 1) : "") + (b ? Arg("trans_b", 1) : "");
    if (c.Flag()) return {"MatMul", args, {x, y}};
    Dims batch = c.Shape(0, 2), other = c.Flag() ? batch : Dims{};
    if (other != batch) args += Arg("broadcast", 1);
    x.insert(x.begin(), batch.begin(), batch.end());
    y.insert(y.begin(), other.begin(), other.end());
    return {"BatchMatMul", args, {x, y}};
  }
  Dims x = c.Shape(2, 4);
  const int64_t rank = static_cast<int64_t>(x.size());
  const int64_t axis = c.Number(1, rank - 1);
  const int64_t columns =
      std::accumulate(x.begin() + axis, x.end(), int64_t{1}, std::multiplies<>());
  const bool transposed = c.Flag();
  Dims w = transposed ? Dims{columns, n} : Dims{n, columns};
  if (!transposed && c.Flag()) w = {n, 1, columns};
  return {transposed ? "FCTransposed" : "FC",
          Arg("axis", c.Flag() ? axis : axis - rank) + (c.Flag() ? Arg("axis_w", 1) : ""),
          {x, w, {n}}};
}

TriedOp Joined(Choices& c) {
  Dims x = c.Shape(1, 4);
  const int64_t rank = static_cast<int64_t>(x.size());
  const int64_t axis = c.Number(0, rank - 1);
  const auto at = static_cast<size_t>(axis);
  const int64_t stated = c.Flag() ? axis : axis - rank;
  switch (c.Number(0, 5)) {
    case 0: {
      Dims y = x;
      y[at] = c.Number(1, 3);
      return {"Concat", Arg("axis", stated), {x, y, x}, 2};
    }
    case 1:
      return {"Concat", Arg("axis", c.Number(0, rank)) + Arg("add_axis", 1), {x, x}, 2};
    case 2: {
      const int64_t first = c.Number(1, 3), second = c.Number(1, 3);
      x[at] = first + second;
      return {"Split", Arg("axis", stated) + List("split", {first, second}), {x}, 2};
    }
    case 3:
      x[at] = 3;
      return {"Split", Arg("axis", stated) + Arg("add_axis", 1), {x}, 3};
    case 4: {
      // One axis is cut.
      Dims starts(x.size()), ends(x.size(), -1);
      starts[at] = c.Number(0, x[at] - 1);
      ends[at] = c.Flag() ? -1 : c.Number(starts[at] + 1, x[at]);
      return {"Slice", List("starts", starts) + List("ends", ends), {x}};
    }
    default: {
      Dims perm(x.size());
      std::iota(perm.begin(), perm.end(), 0);
      for (size_t i = 0; i < perm.size(); ++i)
        std::swap(perm[i], perm[static_cast<size_t>(c.Number(0, rank - 1))]);
      return {"Transpose", c.Flag() ? List("axes", perm) : "", {x}};
    }
  }
}

TriedOp Moved(Choices& c) {
  Dims x = c.Shape(1, 4);
  const int64_t rank = static_cast<int64_t>(x.size());
  const int64_t axis = c.Number(0, rank - 1);
  switch (c.Number(0, 6)) {
    case 0:
      return {"Flatten", Arg("axis", c.Number(0, rank)), {x}};
    case 1:
      return {"Reshape", List("shape", {0, -1}), {x}, 2};
    case 2:
      return {"ExpandDims", List("dims", {c.Number(0, rank), 0}), {x}};
    case 3:
      x[static_cast<size_t>(axis)] = 1;
      return {"Squeeze", List("dims", {axis}), {x}};
    case 4:
      return {
          "Tile", Arg("axis", c.Flag() ? axis : axis - rank) + Arg("tiles", c.Number(1, 3)), {x}};
    case 5:
      x[0] = 3;
      return {"Gather", "", {x, c.Shape(1, 2)}, 1, 1};
    default:
      if (rank < 2) x.push_back(3);
      x[1] = 3;
      return {"BatchGather", "", {x, {c.Number(1, 4)}}, 1, 1};
  }
}

TriedOp Arithmetic(Choices& c) {
  Dims a = c.Shape(1, 4), b;
  const std::string type =
      c.Of<std::string>({"Add", "Sub", "Mul", "Div", "LT", "LE", "GT", "GE", "EQ", "NE"});
  std::string args;
  const int64_t rank = static_cast<int64_t>(a.size());
  if (c.Flag()) {
    const int64_t from = c.Number(0, rank - 1), to = c.Number(from + 1, rank);
    b.assign(a.begin() + from, a.begin() + to);
    args = Arg("broadcast", 1);
    if (to < rank || c.Flag()) args += Arg("axis", from);
    // Ones of B are repeated.
    if (to == rank && c.Flag()) b[0] = 1;
  } else {
    b = a;
    for (int64_t& dim : b) dim = c.Number(0, 3) == 0 ? 1 : dim;
    if (c.Flag() && rank > 1) b.erase(b.begin());
  }
  return {type, args, {a, b}};
}

TriedOp Element(Choices& c) {
  const std::vector<TriedOp> rows = {{"Elu", Float("alpha", 0.5)},
                                     {"Selu", Float("alpha", 1.5) + Float("scale", 1.25)},
                                     {"LeakyRelu", Float("alpha", 0.25)},
                                     {"HardSigmoid", Float("alpha", 0.25)},
                                     {"HardSigmoid", ""},
                                     {"ThresholdedRelu", Float("alpha", 0.25)},
                                     {"Clip", Float("min", -0.5) + Float("max", 0.25)},
                                     {"Clip", Float("min", 0.1)},
                                     {"ReluN", Float("n", 0.5)},
                                     {"Scale", Float("scale", -1.5)},
                                     {"Pow", Float("exponent", 2)},
                                     {"Sqr", ""},
                                     {"Cube", ""},
                                     {"Swish", ""},
                                     {"Mish", ""},
                                     {"Gelu", ""},
                                     {"Gelu", Arg("fast_gelu", 1)},
                                     {"Softplus", ""},
                                     {"Softsign", ""},
                                     {"Negative", ""},
                                     {"Abs", ""},
                                     {"Sign", ""},
                                     {"Ceil", ""},
                                     {"Floor", ""},
                                     {"Erf", ""},
                                     {"Tanh", ""},
                                     {"Sigmoid", ""},
                                     {"Exp", ""},
                                     {"Sin", ""},
                                     {"Cos", ""},
                                     {"Not", ""}};
  TriedOp op = c.Of(rows);
  op.inputs = {c.Shape(0, 4)};
  return op;
}

TriedOp Reduction(Choices& c) {
  const Dims x = c.Shape(1, 4);
  const int64_t rank = static_cast<int64_t>(x.size());
  Dims axes;
  for (int64_t i = 0; i < rank; ++i) {
    if (c.Flag()) axes.push_back(i);
  }
  const int64_t axis = c.Number(0, rank - 1);
  switch (c.Number(0, 6)) {
    case 0:
      return {c.Of<std::string>({"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceL1",
                                 "ReduceL2", "ReduceSumSquare", "ReduceProd"}),
              (axes.empty() ? "" : List("axes", axes)) + Arg("keepdims", c.Number(0, 1)),
              {x}};
    case 1:
      return {c.Of<std::string>({"ReduceFrontSum", "ReduceFrontMean", "ReduceFrontMax",
                                 "ReduceBackSum", "ReduceBackMean", "ReduceBackMax"}),
              Arg("num_reduce_dim", c.Number(0, rank)),
              {x}};
    case 2:
      return {
          c.Of<std::string>({"ArgMax", "ArgMin"}),
          Arg("axis", axis < rank - 1 || c.Flag() ? axis : -1) + Arg("keepdims", c.Number(0, 1)),
          {x}};
    case 3:
      return {"TopK",
              Arg("axis", axis < rank - 1 || c.Flag() ? axis : -1) +
                  Arg("k", c.Number(1, x[static_cast<size_t>(axis)])),
              {x},
              2};
    case 4:
      return {"Softmax", Arg("axis", c.Flag() ? axis : axis - rank), {x}};
    case 5:
      return {"PRelu", "", {x.size() < 2 ? Dims{2, 3} : x, {x.size() < 2 ? 3 : x[1]}}};
    default:
      return {c.Of<std::string>({"Sum", "Max", "Min", "Mean"}), "", {x, x, x}};
  }
}

// ---

std::string DefOf(const TriedOp& op) {
  std::string text = "type: '" + op.type + "'";
  for (size_t i = 0; i < op.inputs.size(); ++i) text += MakeString(" input: 'x", i, "'");
  for (int i = 0; i < op.outputs; ++i) text += MakeString(" output: 'y", i, "'");
  return text + op.args;
}

void FeedInputs(const TriedOp& op, uint32_t seed, Workspace* ws) {
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    const int64_t count =
        std::accumulate(op.inputs[i].begin(), op.inputs[i].end(), int64_t{1}, std::multiplies<>());
    const std::string name = MakeString("x", i);
    const std::vector<float> values = RandomValues(
        count, op.type == "SpatialBN" && i == 4 ? 0.5f : -2, 2, seed + static_cast<uint32_t>(i));
    if (static_cast<int>(i) == op.integers) {
      std::vector<int64_t> integers;
      for (int64_t k = 0; k < count; ++k) integers.push_back((k * 5 + seed) % 3);
      Feed<int64_t>(ws, name, op.inputs[i], integers);
    } else if (op.type == "Not") {
      Tensor* tensor = ws->CreateBlob(name)->GetMutableTensor(CPU);
      tensor->Resize(op.inputs[i]);
      for (int64_t k = 0; k < count; ++k)
        tensor->mutable_data<bool>()[k] = values[static_cast<size_t>(k)] > 0;
    } else {
      Feed<float>(ws, name, op.inputs[i], values);
    }
  }
}

// What differs between the outputs, or "".
std::string Difference(const Workspace& a, const Workspace& b, const std::string& name) {
  const Tensor &x = a.GetBlob(name)->Get<Tensor>(), &y = b.GetBlob(name)->Get<Tensor>();
  if (x.dims() != y.dims() || x.meta() != y.meta()) {
    return MakeString(name, " is ", y.meta().name(), " ", y.sizes(), ", want ", x.meta().name(),
                      " ", x.sizes());
  }
  for (int64_t i = 0; i < x.numel(); ++i) {
    const auto at = [&](const Tensor& t) {
      if (t.IsType<float>()) return double{t.data<float>()[i]};
      if (t.IsType<int64_t>()) return static_cast<double>(t.data<int64_t>()[i]);
      if (t.IsType<int32_t>()) return static_cast<double>(t.data<int32_t>()[i]);
      if (t.IsType<bool>()) return t.data<bool>()[i] ? 1.0 : 0.0;
      return 0.0;
    };
    const double want = at(x), got = at(y);
    if (want == got || (std::isnan(want) && std::isnan(got))) continue;
    if (!std::isfinite(want) || !(std::abs(want - got) <= 1e-4 * std::max(1.0, std::abs(want))))
      return MakeString(name, "[", i, "] is ", got, ", want ", want);
  }
  return "";
}

TEST(RandomRoundTripsTest, OperatorsComputeTheSameAsModels) {
  const std::vector<std::function<TriedOp(Choices&)>> kinds = {
      Window, Image, Norm, Matrix, Joined, Moved, Arithmetic, Element, Reduction};
  std::map<std::string, int> compared;
  for (int trial = 0; trial < 500; ++trial) {
    Choices choices(static_cast<uint32_t>(trial));
    const TriedOp op = choices.Of(kinds)(choices);
    const auto seed = static_cast<uint32_t>(trial * 10);
    const int opset = static_cast<int>(choices.Number(13, 24));
    std::string text = DefOf(op) + " shapes";
    for (const Dims& dims : op.inputs) text += MakeString(" ", dims);
    SCOPED_TRACE(MakeString("trial ", trial, ", opset ", opset, ": ", text));
    Workspace direct, model;
    FeedInputs(op, seed, &direct);
    FeedInputs(op, seed, &model);
    RunOp(&direct, DefOf(op));
    std::set<std::string> weights;
    const bool all = choices.Flag();
    for (size_t i = 1; i < op.inputs.size() && all; ++i) weights.insert(MakeString("x", i));
    try {
      const auto reason = RunThroughOnnx(ParseOp(DefOf(op)), weights, &model, opset);
      if (reason.has_value()) {
        EXPECT_THAT(*reason, ::testing::HasSubstr("needs opset 17"));
        continue;
      }
      for (int i = 0; i < op.outputs; ++i)
        EXPECT_EQ(Difference(direct, model, MakeString("y", i)), "");
      ++compared[op.type];
    } catch (const EnforceNotMet& error) {
      ADD_FAILURE() << error.message();
    }
  }
  EXPECT_GT(compared.size(), 40u);
}

}  // namespace
}  // namespace caffe2rt::test::random_round_trips_test
