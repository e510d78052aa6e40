// Constants that loops carry, attention with counted keys and states, slopes of channels: values worked out by
// hand or by the recurrence of the definition.
#include <gtest/gtest.h>

#include <cmath>

#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/proto_file.h"
#include "tests/caffe2_core/import/onnx/imported_onnx.h"
#include "tests/caffe2_core/import/onnx/node_forms.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::carried_states_test {
namespace {

using namespace node_forms;  // used throughout this file

using Values = std::vector<double>;
using Dims = std::vector<int64_t>;

// Runs nodes on x, and returns y.
Tensor RunOn(const std::string& nodes, const Dims& dims, const std::vector<float>& values,
             int64_t opset, const std::string& output = "y") {
  std::vector<std::string> texts;
  for (const int64_t dim : dims) texts.push_back(MakeString(dim));
  const std::string bytes =
      OnnxBytes(OnnxValue("input", "x", texts) + nodes + "output { name: '" + output + "' }", opset,
                "opset_import { domain: 'com.microsoft' version: 1 } ");
  EXPECT_EQ(OnnxImportError(bytes), "");
  return RunOnnxBytes(bytes, {{"x", FloatTensor(dims, values)}}, output);
}
void ExpectNear(const Tensor& got, const Dims& dims, const Values& want) {
  EXPECT_EQ(got.dims(), dims);
  const std::vector<float> values = FloatsOf(got);
  ASSERT_EQ(values.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(values[i], want[i], 2e-5) << i;
}
std::string Reals(const std::string& name, const Dims& dims, const Values& values) {
  return Constant(name, kFloat, dims, values);
}

// --- loops ---

// The body has the inputs i, k and v.
std::string Body(const std::string& nodes, const std::string& outputs) {
  std::string text = "attribute { name: 'body' type: GRAPH g { ";
  for (const char* name : {"i", "k", "v"}) text += MakeString("input { name: '", name, "' } ");
  text += nodes;
  for (const char output : outputs) text += MakeString("output { name: '", output, "' } ");
  return text + "} } ";
}

std::vector<int64_t> RunLoop(const std::string& nodes, int64_t steps, Dims* dims = nullptr) {
  const std::string bytes =
      OnnxBytes(OnnxValue("input", "n", {}, kInt64) + nodes + "output { name: 'y' }", 18);
  EXPECT_EQ(OnnxImportError(bytes), "");
  const Tensor y = RunOnnxBytes(bytes, {{"n", IntTensor({}, {steps})}}, "y");
  if (dims != nullptr) *dims = y.dims();
  return IntsOf(y);
}

// What a value is before the first iteration says nothing of the others.
TEST(CarriedStatesTest, LoopsCarryConstants) {
  using Ints = std::vector<int64_t>;
  const std::string constants = List("s", {1}) + List("o", {10});
  const std::string keep = Node("Identity", "k", "", "q");
  const std::string grows =
      constants + Node("Loop", "n-s", Body(keep + Node("Add", "vo", "", "w"), "qw"), "r");
  const std::string last = Node("Add", "ro");
  EXPECT_EQ(RunLoop(grows + last, 0), Ints{11});
  EXPECT_EQ(RunLoop(grows + last, 1), Ints{21});
  EXPECT_EQ(RunLoop(grows + last, 3), Ints{41});
  // The body gives a constant of its own, which no iteration need have given.
  const std::string gives = constants + Node("Loop", "n-s", Body(keep + List("c", {7}), "qc"), "r");
  EXPECT_EQ(RunLoop(gives + last, 0), Ints{11});
  EXPECT_EQ(RunLoop(gives + last, 2), Ints{17});
  Dims dims;
  const std::string items =
      constants + Node("Loop", "n-s", Body(keep + List("c", {7}), "qcc"), "rt") + Node("Add", "to");
  EXPECT_EQ(RunLoop(items, 2, &dims), (Ints{17, 17}));
  EXPECT_EQ(dims, (Dims{2, 1}));
  EXPECT_EQ(RunLoop(items, 0, &dims), Ints{});
  EXPECT_EQ(dims, (Dims{0, 1}));
}

TEST(CarriedStatesTest, BranchesGiveConstants) {
  const auto branch = [](const std::string& name, int64_t value) {
    return "attribute { name: '" + name + "' type: GRAPH g { " + List("c", {value}) +
           "output { name: 'c' } } } ";
  };
  const std::string graph =
      OnnxValue("input", "b", {}, kBool) + List("o", {10}) +
      Node("If", "b", branch("then_branch", 7) + branch("else_branch", 9), "r") +
      Node("Add", "ro") + "output { name: 'y' }";
  for (const bool condition : {true, false}) {
    Tensor b(Dims{}, CPU);
    *b.mutable_data<bool>() = condition;
    EXPECT_EQ(IntsOf(RunOnnxBytes(OnnxBytes(graph, 18), {{"b", b}}, "y")),
              (std::vector<int64_t>{condition ? 17 : 19}));
  }
}

// --- attention ---

// Two queries of 0 and three keys of each batch: the output is the mean of the values that they see. The last
// query is at the last key that counts.
TEST(CarriedStatesTest, CountedKeysAreSeenThroughWindows) {
  const std::string keys =
      Reals("k", {2, 1, 3, 1}, Values(6, 1)) + Reals("v", {2, 1, 3, 1}, {1, 3, 8, 10, 20, 60});
  const struct {
    int first, second;  // keys that count in the batches
    std::string attributes;
    Values want;
  } rows[] = {
      {3, 2, "", {4, 4, 15, 15}},
      {3, 1, Int("is_causal", 1), {2, 4, 0, 10}},
      {3, 2, Int("is_causal", 1), {2, 4, 10, 15}},
      {3, 2, Int("left_window_size", 0), {5.5, 8, 15, 20}},
      {3, 2, Int("left_window_size", 1), {4, 5.5, 15, 15}},
      {3, 2, Int("right_window_size", 0), {2, 4, 10, 15}},
      {3, 3, Int("left_window_size", 0) + Int("right_window_size", 0), {3, 8, 20, 60}},
      {2, 3, Int("left_window_size", 0) + Int("is_causal", 1), {1, 3, 20, 60}},
      {3, 1, Int("right_window_size", 1), {4, 4, 10, 10}},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.attributes);
    const std::string counts = Constant(
        "c", kInt64, {2}, {static_cast<double>(row.first), static_cast<double>(row.second)});
    ExpectNear(RunOn(keys + counts + Node("Attention", "xkv---c", row.attributes), {2, 1, 2, 1},
                     {0, 0, 0, 0}, 28),
               {2, 1, 2, 1}, row.want);
  }
}

// Masks of more axes, and of one query for all.
TEST(CarriedStatesTest, MasksAreBroadcast) {
  const std::string keys =
      Reals("k", {2, 1, 3, 1}, Values(6, 1)) + Reals("v", {2, 1, 3, 1}, {1, 3, 8, 10, 20, 60});
  const auto run = [&](const std::string& mask) {
    return RunOn(keys + mask + Node("Attention", "xkvm"), {2, 1, 2, 1}, {0, 0, 0, 0}, 24);
  };
  const Dims dims = {2, 1, 2, 1};
  ExpectNear(run(Constant("m", kBool, {1, 3}, {1, 1, 0})), dims, {2, 2, 15, 15});
  ExpectNear(run(Constant("m", kBool, {2, 1, 1, 3}, {1, 1, 0, 0, 1, 1})), dims, {2, 2, 40, 40});
  ExpectNear(run(Constant("m", kBool, {2, 1, 2, 3}, {1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0})), dims,
             {1, 3, 60, 0});
  const double third = std::log(1.0 / 3);
  ExpectNear(run(Reals("m", {1, 1, 1, 3}, {0, third, -1e30})), dims, {1.5, 1.5, 12.5, 12.5});
  // The third key has no column in the mask.
  ExpectNear(run(Reals("m", {2, 2}, {0, 0, third, 0})), dims, {2, 2.5, 15, 17.5});
  ExpectNear(run(Constant("m", kBool, {2, 2}, {1, 0, 0, 1})), dims, {1, 3, 10, 20});
}

// Four heads of queries for two of keys; keys of two columns, values of three.
TEST(CarriedStatesTest, LinearAttentionHasHeadsAndColumns) {
  constexpr int kSteps = 3, kQueries = 4, kKeys = 2, kIn = 2, kOut = 3;
  const auto spread = [](int count, double step) {
    Values values;
    for (int i = 0; i < count; ++i)
      values.push_back(std::round(std::sin(step * (i + 1)) * 64) / 64);
    return values;
  };
  const Values q = spread(kSteps * kQueries * kIn, 0.7), k = spread(kSteps * kKeys * kIn, 1.3),
               v = spread(kSteps * kKeys * kOut, 2.1), decay = spread(kSteps * kKeys * kIn, 0.4),
               beta = spread(kSteps * kKeys, 0.9);
  const std::string parts =
      Reals("k", {1, kSteps, kKeys * kIn}, k) + Reals("v", {1, kSteps, kKeys * kOut}, v) +
      Reals("d", {1, kSteps, kKeys * kIn}, decay) + Reals("b", {1, kSteps, kKeys}, beta);
  for (const std::string rule : {"linear", "gated", "delta", "gated_delta", ""}) {
    SCOPED_TRACE(rule);
    const bool gated = rule.empty() || rule.starts_with("gated");
    const bool delta = rule.empty() || rule.ends_with("delta");
    Values state(kKeys * kIn * kOut), want(kSteps * kQueries * kOut);
    for (int t = 0; t < kSteps; ++t) {
      for (int h = 0; h < kKeys; ++h) {
        const auto at = [&](int i, int o) -> double& {
          return state[static_cast<size_t>((h * kIn + i) * kOut + o)];
        };
        const auto key = [&](int i) { return k[static_cast<size_t>((t * kKeys + h) * kIn + i)]; };
        for (int i = 0; gated && i < kIn; ++i) {
          const double kept = std::exp(decay[static_cast<size_t>((t * kKeys + h) * kIn + i)]);
          for (int o = 0; o < kOut; ++o) at(i, o) *= kept;
        }
        for (int o = 0; o < kOut; ++o) {
          double value = v[static_cast<size_t>((t * kKeys + h) * kOut + o)];
          if (delta) {
            for (int i = 0; i < kIn; ++i) value -= key(i) * at(i, o);
            value *= beta[static_cast<size_t>(t * kKeys + h)];
          }
          for (int i = 0; i < kIn; ++i) at(i, o) += key(i) * value;
        }
        for (int head = 2 * h; head < 2 * h + 2; ++head) {
          for (int o = 0; o < kOut; ++o) {
            double y = 0;
            for (int i = 0; i < kIn; ++i)
              y += q[static_cast<size_t>((t * kQueries + head) * kIn + i)] * at(i, o);
            want[static_cast<size_t>((t * kQueries + head) * kOut + o)] = y / std::sqrt(2.0);
          }
        }
      }
    }
    const std::string node =
        parts + Node("LinearAttention", "xkv-db",
                     Int("q_num_heads", kQueries) + Int("kv_num_heads", kKeys) +
                         (rule.empty() ? "" : Text("update_rule", rule)),
                     "yz");
    const Dims dims = {1, kSteps, kQueries * kIn};
    const std::vector<float> x(q.begin(), q.end());
    ExpectNear(RunOn(node, dims, x, 28), {1, kSteps, kQueries * kOut}, want);
    ExpectNear(RunOn(node, dims, x, 28, "z"), {1, kKeys, kIn, kOut}, state);
  }
}

TEST(CarriedStatesTest, GroupsOfQueriesTurnNeighboursOrHalves) {
  const std::string parts = Reals("k", {1, 1, 4}, {1, 2, 3, 4}) +
                            Reals("v", {1, 1, 4}, {5, 6, 7, 8}) + Constant("l", kInt32, {1}, {0}) +
                            Constant("a", kInt32, {}, {1}) + Reals("c", {1, 2}, {0, 1}) +
                            Reals("s", {1, 2}, {1, 0});
  const auto keys = [&](const std::string& more) {
    std::string node = Node("GroupQueryAttention", "xkv--lacs",
                            Int("num_heads", 1) + Int("kv_num_heads", 1) + more, "yz");
    node.insert(node.find("op_type"), "domain: 'com.microsoft' ");
    return RunOn(parts + node, {1, 1, 4}, {1, 1, 1, 1}, 18, "z");
  };
  const std::string turns = Int("do_rotary", 1);
  ExpectNear(keys(""), {1, 1, 1, 4}, {1, 2, 3, 4});
  ExpectNear(keys(turns), {1, 1, 1, 4}, {-3, 2, 1, 4});
  ExpectNear(keys(turns + Int("rotary_interleaved", 1)), {1, 1, 1, 4}, {-2, 1, 3, 4});
}

// Three positions that a window of 0 does not hide.
TEST(CarriedStatesTest, WindowsOfNoSizeHideNothing) {
  const std::string parts = Reals("k", {1, 3, 1}, {0, 0, 0}) + Reals("v", {1, 3, 1}, {1, 3, 8}) +
                            Constant("l", kInt32, {1}, {2}) + Constant("a", kInt32, {}, {3});
  const struct {
    int64_t window;
    Values want;
  } rows[] = {{-1, {1, 2, 4}}, {0, {1, 2, 4}}, {1, {1, 3, 8}}, {2, {1, 2, 5.5}}, {3, {1, 2, 4}}};
  for (const auto& row : rows) {
    std::string node =
        Node("GroupQueryAttention", "xkv--la",
             Int("num_heads", 1) + Int("kv_num_heads", 1) + Int("local_window_size", row.window));
    node.insert(node.find("op_type"), "domain: 'com.microsoft' ");
    ExpectNear(RunOn(parts + node, {1, 3, 1}, {0, 0, 0}, 18), {1, 3, 1}, row.want);
  }
}

// --- slopes ---

TEST(CarriedStatesTest, SlopesAreBroadcast) {
  const Dims dims = {1, 2, 1, 2};
  const std::vector<float> x = {-1, -2, -3, 4};
  const auto run = [&](const Dims& slope, const Values& values) {
    return RunOn(Reals("s", slope, values) + Node("PRelu", "xs"), dims, x, 16);
  };
  ExpectNear(run({}, {2}), dims, {-2, -4, -6, 4});
  ExpectNear(run({1}, {2}), dims, {-2, -4, -6, 4});
  ExpectNear(run({2}, {10, 100}), dims, {-10, -200, -30, 4});
  ExpectNear(run({2, 1, 1}, {10, 100}), dims, {-10, -20, -300, 4});
  ExpectNear(run({1, 1, 1}, {10}), dims, {-10, -20, -30, 4});
  ExpectNear(run({2, 1, 2}, {1, 2, 3, 4}), dims, {-1, -4, -9, 4});
  ExpectNear(run({1, 1, 2}, {10, 100}), dims, {-10, -200, -30, 4});
  ExpectNear(run({1, 2, 1, 1}, {10, 100}), dims, {-10, -20, -300, 4});
  ExpectNear(RunOn(Reals("s", {3}, {1, 10, 100}) + Node("PRelu", "xs"), {2, 3},
                   {-1, -1, -1, -2, 2, -2}, 16),
             {2, 3}, {-1, -10, -100, -2, 2, -200});
  // Slopes of channels become Caffe2's operator.
  node_forms::Check({{Node("PRelu", "xs"),
                      "Reshape(s) shape=[-1] -> %1, %2\nPRelu(x, %1) -> y\n",
                      {{"x", {"1", "3", "4", "4"}}, {"s", {"3", "1", "1"}}}}});
}

// --- files ---

TEST(CarriedStatesTest, NarrowTensorsHaveTheirNames) {
  const TempDir folder;
  const std::string path = folder.path("t.pb");
  WriteNarrowOnnxTensor(path, "weights", FloatTensor({1, 3}, {0.5f, -6, 3}),
                        NarrowFormat::kFloat4E2M1);
  onnx::TensorProto proto;
  ASSERT_TRUE(proto.ParseFromString(ReadWholeFile(path)));
  EXPECT_EQ(proto.name(), "weights");
  EXPECT_EQ(Dims(proto.dims().begin(), proto.dims().end()), (Dims{1, 3}));
}

}  // namespace
}  // namespace caffe2rt::test::carried_states_test
