// An operator that has run, or failed, computes after a change of its inputs what a new operator
// computes.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "caffe2_core/runtime/operator_registry.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::quantize_reuse_test {
namespace {

using Feeding = std::function<void(Workspace*)>;

// Feeds numbers that differ with `first`.
template <class T>
Feeding Fed(const std::string& name, const std::vector<int64_t>& dims, int first = 3) {
  return [=](Workspace* ws) {
    int64_t count = 1;
    for (const int64_t dim : dims) count *= dim;
    std::vector<T> values(static_cast<size_t>(count));
    for (size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<T>((first + static_cast<int>(i) * 37) % 101);
    }
    Feed<T>(ws, name, dims, values);
  };
}
template <class T>
Feeding FedOne(const std::string& name, T value) {
  return [=](Workspace* ws) { Feed<T>(ws, name, {1}, {value}); };
}
Feeding Both(const Feeding& a, const Feeding& b) {
  return [=](Workspace* ws) {
    a(ws);
    b(ws);
  };
}

// The type, the shape and the bytes of a tensor.
std::string Contents(const Workspace& ws, const std::string& name) {
  const Tensor& tensor = ws.GetBlob(name)->Get<Tensor>();
  std::string text = MakeString(tensor.dtype().name(), " ", tensor.sizes(), ":");
  const auto* bytes = static_cast<const uint8_t*>(tensor.raw_data());
  for (size_t i = 0; i < tensor.nbytes(); ++i) text += MakeString(" ", int{bytes[i]});
  return text;
}

struct Step {
  Feeding feed;
  const char* error = nullptr;  // a part of the message, if the operator must fail
};

// Every step that does not fail changes an output, and all stay for those after them.
void ExpectFollows(const std::string& op, const std::vector<Feeding>& start,
                   const std::vector<Step>& steps) {
  SCOPED_TRACE(op);
  Workspace used;
  for (const Feeding& feed : start) feed(&used);
  const OperatorDef def = ParseOp(op);
  const std::unique_ptr<OperatorBase> reused = CreateOperator(def, &used);
  ASSERT_TRUE(reused->Run());
  std::string before = Contents(used, def.output(0));
  for (size_t last = 0; last < steps.size(); ++last) {
    SCOPED_TRACE(MakeString("step ", last));
    steps[last].feed(&used);
    if (steps[last].error != nullptr) {
      ExpectThrows([&] { (void)reused->Run(); }, steps[last].error);
      continue;
    }
    ASSERT_TRUE(reused->Run());
    Workspace fresh;
    for (const Feeding& feed : start) feed(&fresh);
    for (size_t i = 0; i <= last; ++i) steps[i].feed(&fresh);
    RunOp(&fresh, op);
    for (const std::string& output : def.output()) {
      EXPECT_EQ(Contents(used, output), Contents(fresh, output));
    }
    EXPECT_NE(Contents(used, def.output(0)), before);
    before = Contents(used, def.output(0));
  }
}

TEST(QuantizeReuseTest, LinearOperatorsFollowShapesScalesAndTypes) {
  const Feeding scales = Fed<float>("s", {3}, 1);
  ExpectFollows(R"(type: "QuantizeLinear" input: "X" input: "s" output: "Y"
                   arg { name: "axis" i: -1 })",
                {Fed<float>("X", {2, 3}), scales},
                {{Fed<float>("X", {4, 3}, 9)},
                 {FedOne<float>("s", 0.25f)},
                 {Fed<int32_t>("X", {2, 2})},
                 {scales, "input 1 (scale) has shape [3]"},
                 {Fed<float>("X", {3})},
                 {FedOne<float>("s", 0), "input 1 (scale) is 0"},
                 {FedOne<float>("s", 2)}});
  ExpectFollows(R"(type: "QuantizeLinear" input: "X" input: "s" input: "z" output: "Y"
                   arg { name: "block_size" i: 2 })",
                {Fed<float>("X", {2, 3}), Fed<float>("s", {2, 2}, 1), Fed<uint8_t>("z", {2, 2})},
                {{Fed<uint8_t>("z", {2, 2}, 50)},
                 {Fed<int8_t>("z", {2, 2}, 50)},
                 {Fed<float>("X", {2, 4}, 70)},
                 {Fed<float>("s", {2, 3}, 1), "input 1 (scale) of shape [2, 3]"},
                 {Both(Fed<float>("X", {2, 5}), Fed<int16_t>("z", {2, 3}))}});
  ExpectFollows(R"(type: "DequantizeLinear" input: "X" input: "s" output: "Y"
                   arg { name: "axis" i: 0 })",
                {Fed<uint8_t>("X", {3, 2}), scales},
                {{Fed<int8_t>("X", {3, 5}, 9)},
                 {Fed<float>("s", {3}, 50)},
                 {Fed<int32_t>("X", {3})},
                 {Fed<uint8_t>("X", {2, 3}), "input 1 (scale) has shape [3]"},
                 {Fed<int16_t>("X", {3, 1, 2})}});
  ExpectFollows(R"(type: "DynamicQuantizeLinear" input: "X" output: "Y" output: "s" output: "z")",
                {Fed<float>("X", {2, 3})},
                {{Fed<float>("X", {7}, 90)},
                 {FedOne<float>("X", INFINITY), "want a finite range"},
                 {FedOne<float>("X", -4)},
                 {Fed<float>("X", {0, 2})}});
}

TEST(QuantizeReuseTest, ProductsFollowShapesTypesAndParameters) {
  ExpectFollows(R"(type: "MatMulInteger" input: "A" input: "B" input: "a" input: "b" output: "Y")",
                {Fed<uint8_t>("A", {2, 3}), Fed<uint8_t>("B", {3, 4}), FedOne<uint8_t>("a", 1),
                 FedOne<uint8_t>("b", 2)},
                {{FedOne<uint8_t>("a", 7)},
                 {FedOne<uint8_t>("b", 5)},
                 {Fed<uint8_t>("B", {3, 4}, 55)},
                 {Fed<uint8_t>("B", {2, 3, 4}, 20)},
                 {Fed<uint8_t>("B", {4, 4}), "rows of input 1 (B)"},
                 {Fed<uint8_t>("A", {6, 4})},
                 {Fed<uint8_t>("b", {4}, 9)},
                 {Both(Fed<int8_t>("A", {3, 6, 4}), FedOne<int8_t>("a", -3))},
                 {Fed<uint8_t>("b", {3}), "want one element or 4"},
                 {Both(Fed<int8_t>("B", {4, 1}), FedOne<int8_t>("b", 0))}});
  ExpectFollows(R"(type: "QLinearMatMul" input: "A" input: "p" input: "a" input: "B" input: "q"
                   input: "b" input: "r" input: "z" output: "Y")",
                {Fed<uint8_t>("A", {2, 3}), FedOne<float>("p", 0.5f), FedOne<uint8_t>("a", 1),
                 Fed<uint8_t>("B", {3, 4}), FedOne<float>("q", 1), FedOne<uint8_t>("b", 60),
                 FedOne<float>("r", 64), FedOne<uint8_t>("z", 100)},
                {{FedOne<float>("p", 0.25f)},
                 {Fed<float>("q", {4}, 1)},
                 {FedOne<float>("r", 0), "input 6 (y_scale) is 0"},
                 {FedOne<float>("r", 512)},
                 {FedOne<uint8_t>("z", 130)},
                 {FedOne<int8_t>("z", -9)},
                 {Fed<uint8_t>("A", {5, 3}, 80)},
                 {Fed<float>("p", {5}, 2)}});
}

TEST(QuantizeReuseTest, ConvolutionsFollowShapesTypesAndParameters) {
  ExpectFollows(R"(type: "ConvInteger" input: "X" input: "W" input: "a" input: "b" output: "Y"
                   arg { name: "pads" ints: 1 ints: 0 })",
                {Fed<uint8_t>("X", {1, 2, 5}), Fed<uint8_t>("W", {3, 2, 2}),
                 FedOne<uint8_t>("a", 1), FedOne<uint8_t>("b", 2)},
                {{FedOne<uint8_t>("a", 7)},
                 {FedOne<uint8_t>("b", 5)},
                 {Fed<uint8_t>("W", {3, 2, 2}, 60)},
                 {Fed<uint8_t>("X", {2, 2, 70})},
                 {Fed<uint8_t>("X", {2, 3, 7}), "the filter W has shape [3, 2, 2]"},
                 {Fed<uint8_t>("W", {1, 3, 4})},
                 {Fed<uint8_t>("X", {2, 3, 2}), "windows of spatial axis 0 span 4 elements"},
                 {Both(Fed<int8_t>("X", {2, 3, 4}, 77), FedOne<int8_t>("a", -3))},
                 {Both(Fed<int8_t>("W", {4, 3, 1}), Fed<int8_t>("b", {4}))}});
  ExpectFollows(R"(type: "QLinearConv" input: "X" input: "p" input: "a" input: "W" input: "q"
                   input: "b" input: "r" input: "z" input: "B" output: "Y"
                   arg { name: "group" i: 2 })",
                {Fed<uint8_t>("X", {1, 2, 5}), FedOne<float>("p", 0.5f), FedOne<uint8_t>("a", 1),
                 Fed<uint8_t>("W", {4, 1, 2}), FedOne<float>("q", 1), FedOne<uint8_t>("b", 60),
                 FedOne<float>("r", 64), FedOne<uint8_t>("z", 100), Fed<int32_t>("B", {4})},
                {{FedOne<float>("p", 0.25f)},
                 {Fed<float>("q", {4}, 1)},
                 {FedOne<float>("r", INFINITY), "input 6 (y_scale) is inf"},
                 {FedOne<float>("r", 512)},
                 {FedOne<uint8_t>("z", 130)},
                 {[](Workspace* ws) {
                   Feed<int32_t>(ws, "B", {4}, {9000, -9000, 5000, 1});
                 }},
                 {FedOne<int8_t>("z", -9)},
                 {Fed<uint8_t>("X", {3, 2, 7}, 80)},
                 {Fed<int32_t>("B", {3}), "input 8 (B) has shape [3], want [4]"},
                 {Both(Fed<uint8_t>("W", {2, 1, 3}),
                       Both(Fed<int32_t>("B", {2}), Fed<float>("q", {2}, 3)))}});
}

TEST(QuantizeReuseTest, RowsFollowShapesIndicesAndScales) {
  ExpectFollows(R"(type: "FloatToFused8BitRowwiseQuantized" input: "X" output: "Y")",
                {Fed<float>("X", {2, 3})},
                {{Fed<float>("X", {3, 2, 5})},
                 {Fed<float>("X", {2, 0}), "size of the last dimension"},
                 {Fed<float>("X", {4})},
                 {Fed<float>("X", {4}, 50)}});
  ExpectFollows(R"(type: "Fused8BitRowwiseQuantizedHalfScaleBiasToFloat" input: "X" output: "Y")",
                {Fed<uint8_t>("X", {2, 6})},
                {{Fed<uint8_t>("X", {3, 2, 9}, 30)}, {Fed<uint8_t>("X", {5}, 8)}});
  ExpectFollows(R"(type: "FloatToRowwiseQuantized8Bits" input: "X" output: "Y" output: "s")",
                {Fed<float>("X", {2, 3})},
                {{Fed<float>("X", {3, 2, 5})}, {Fed<float>("X", {4, 1, 3}, 50)}});
  ExpectFollows(R"(type: "Rowwise8BitQuantizedToFloat" input: "X" input: "s" output: "Y")",
                {Fed<uint8_t>("X", {2, 3}), Fed<float>("s", {2, 2})},
                {{Fed<float>("s", {2, 2}, 44)},
                 {Fed<uint8_t>("X", {3, 3}), "input 1 (scale_bias) has shape [2, 2]"},
                 {Fed<float>("s", {3, 2})},
                 {Fed<uint8_t>("X", {3, 1, 4})}});
  const auto indices = [](const std::vector<int32_t>& values) {
    return [=](Workspace* ws) {
      Feed<int32_t>(ws, "I", {static_cast<int64_t>(values.size())}, values);
    };
  };
  const auto lengths = [](const std::vector<int32_t>& values) {
    return [=](Workspace* ws) {
      Feed<int32_t>(ws, "L", {static_cast<int64_t>(values.size())}, values);
    };
  };
  ExpectFollows(
      R"(type: "SparseLengthsSum8BitsRowwise" input: "X" input: "I" input: "L" input: "s"
                   output: "Y")",
      {Fed<uint8_t>("X", {3, 4}), Fed<float>("s", {3, 2}), indices({0, 2, 1}), lengths({1, 2})},
      {{lengths({3, 0, 0})},
       {indices({0, 1}), "sum of the lengths"},
       {lengths({2})},
       {indices({0, 3}), "element 1 of INDICES is 3"},
       {indices({2, 2})},
       {Fed<float>("s", {3, 2}, 60)},
       {Fed<uint8_t>("X", {3, 2, 3})}});
}

}  // namespace
}  // namespace caffe2rt::test::quantize_reuse_test
