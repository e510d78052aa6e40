#include <limits>

#include "caffe2_core/base/bfloat16.h"
#include "caffe2_core/tensor/data_type.h"
#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::cast_test {
namespace {

using test::ExpectShapeInferred;
using test::ExpectTensor;
using test::ExpectThrows;
using test::Feed;
using test::RunOp;

std::string CastTo(int type) {
  return R"(type: "Cast" input: "X" output: "Y" arg { name: "to" i: )" + std::to_string(type) +
         " }";
}
std::string CastTo(const std::string& name) {
  return R"(type: "Cast" input: "X" output: "Y" arg { name: "to" s: ")" + name + "\" }";
}

template <class To, class From>
void ExpectCast(const std::vector<From>& values, const std::vector<To>& want) {
  Workspace ws;
  const std::vector<int64_t> dims = {static_cast<int64_t>(values.size())};
  Feed<From>(&ws, "X", dims, values);
  const std::string op = CastTo(TypeMetaToDataType(TypeMeta::Make<To>()));
  RunOp(&ws, op);
  ExpectTensor<To>(ws, "Y", dims, want);
  ExpectShapeInferred(&ws, op);
}

// Recorded from the original.
const std::vector<float> kFloats = {0.5f,
                                    -0.5f,
                                    1.9f,
                                    -1.9f,
                                    300.5f,
                                    -300.5f,
                                    3e9f,
                                    1e20f,
                                    std::numeric_limits<float>::quiet_NaN(),
                                    std::numeric_limits<float>::infinity()};
constexpr int32_t kMin32 = std::numeric_limits<int32_t>::min();
constexpr int64_t kMin64 = std::numeric_limits<int64_t>::min();

TEST(CastTest, CutsFloatsAndSendsWhatDoesNotFitThroughInt32) {
  ExpectCast<int32_t>(kFloats, {0, 0, 1, -1, 300, -300, kMin32, kMin32, kMin32, kMin32});
  ExpectCast<int64_t>(kFloats, {0, 0, 1, -1, 300, -300, 3000000000, kMin64, kMin64, kMin64});
  ExpectCast<uint8_t>(kFloats, {0, 0, 1, 255, 44, 212, 0, 0, 0, 0});
  ExpectCast<int8_t>(kFloats, {0, 0, 1, -1, 44, -44, 0, 0, 0, 0});
  ExpectCast<uint16_t>(kFloats, {0, 0, 1, 65535, 300, 65236, 0, 0, 0, 0});
  ExpectCast<int16_t>(kFloats, {0, 0, 1, -1, 300, -300, 0, 0, 0, 0});
}

TEST(CastTest, ConvertsDoublesAsFloats) {
  const std::vector<double> doubles(kFloats.begin(), kFloats.end());
  ExpectCast<int32_t>(doubles, {0, 0, 1, -1, 300, -300, kMin32, kMin32, kMin32, kMin32});
  ExpectCast<float>(doubles, kFloats);
  ExpectCast<double>(kFloats, doubles);
}

TEST(CastTest, FindsEverythingButZeroTrue) {
  ExpectCast<bool>(kFloats, std::vector<bool>(10, true));
  ExpectCast<bool>(std::vector<float>{0, -0.0f}, std::vector<bool>{false, false});
  ExpectCast<bool>(std::vector<int64_t>{int64_t{1} << 32, 0}, std::vector<bool>{true, false});
}

TEST(CastTest, WrapsIntegers) {
  const std::vector<int64_t> wide = {255, 256, -129, 70000, 2147483653, -2147483649};
  ExpectCast<int32_t>(wide, {255, 256, -129, 70000, -2147483643, 2147483647});
  ExpectCast<uint8_t>(wide, {255, 0, 127, 112, 5, 255});
  ExpectCast<int16_t>(wide, {255, 256, -129, 4464, 5, -1});
  ExpectCast<float>(std::vector<uint8_t>{0, 255}, {0, 255});
  ExpectCast<float>(std::vector<bool>{true, false}, {1, 0});
}

TEST(CastTest, WritesStrings) {
  ExpectCast<std::string>(std::vector<float>{0.5f, -300.5f}, {"0.500000", "-300.500000"});
  ExpectCast<std::string>(std::vector<int32_t>{-129}, {"-129"});
  ExpectCast<std::string>(std::vector<uint8_t>{200}, {"200"});
  ExpectCast<std::string>(std::vector<bool>{true, false}, {"1", "0"});
}

TEST(CastTest, AcceptsNamesInAnyCaseAndFloatByDefault) {
  Workspace ws;
  Feed<float>(&ws, "X", {1}, {2.5f});
  RunOp(&ws, CastTo("int32"));
  ExpectTensor<int32_t>(ws, "Y", {1}, {2});
  RunOp(&ws, CastTo("Bool"));
  ExpectTensor<bool>(ws, "Y", {1}, {true});
  RunOp(&ws, R"(type: "Cast" input: "X" output: "Y")");
  ExpectTensor<float>(ws, "Y", {1}, {2.5f});
}

TEST(CastTest, KeepsEmptyAndScalarShapes) {
  Workspace ws;
  Feed<float>(&ws, "X", {0, 3}, {});
  RunOp(&ws, CastTo(TensorProto::INT64));
  ExpectTensor<int64_t>(ws, "Y", {0, 3}, {});
  Feed<float>(&ws, "X", {}, {7});
  RunOp(&ws, CastTo(TensorProto::INT64));
  ExpectTensor<int64_t>(ws, "Y", {}, {7});
}

TEST(CastTest, ConvertsUnsignedIntegers) {
  ExpectCast<uint32_t>(std::vector<int64_t>{-1, 5000000000, 7}, {UINT32_MAX, 705032704, 7});
  ExpectCast<uint32_t>(std::vector<float>{-1.9f, 3e9f, 0.5f}, {UINT32_MAX, 3000000000u, 0});
  ExpectCast<float>(std::vector<uint32_t>{UINT32_MAX, 7}, {4294967296.f, 7});
  ExpectCast<uint64_t>(std::vector<double>{-1, 0x1p63, 0x1p64, 7.9},
                       {UINT64_MAX, uint64_t{1} << 63, 0, 7});
  ExpectCast<double>(std::vector<uint64_t>{UINT64_MAX, 7}, {0x1p64, 7});
  ExpectCast<int32_t>(std::vector<uint64_t>{uint64_t{1} << 32 | 3}, {3});
  ExpectCast<bool>(std::vector<uint64_t>{uint64_t{1} << 63, 0}, {true, false});
  ExpectCast<uint32_t>(std::vector<uint64_t>{UINT64_MAX}, {UINT32_MAX});
}

TEST(CastTest, ConvertsBfloat16) {
  // 1.0 is 0x3f80; 257 lies between 256 (0x4380) and 258 (0x4381), and the even one is taken.
  ExpectCast<float>(std::vector<bfloat16>{bfloat16::FromBits(0x3f80), bfloat16::FromBits(0x4381)},
                    {1, 258});
  ExpectCast<int32_t>(std::vector<bfloat16>{bfloat16::FromBits(0xc060)}, {-3});  // -3.5
  Workspace ws;
  Feed<int64_t>(&ws, "X", {2}, {257, -2});
  RunOp(&ws, CastTo(TensorProto::BFLOAT16));
  const auto* y = ws.GetBlob("Y")->Get<Tensor>().data<bfloat16>();
  EXPECT_EQ(y[0].x, 0x4380);
  EXPECT_EQ(y[1].x, 0xc000);
}

TEST(CastTest, RejectsUnsupportedTypes) {
  Workspace ws;
  Feed<float>(&ws, "X", {1}, {1});
  ExpectThrows([&] { RunOp(&ws, CastTo(TensorProto::FLOAT16)); }, "half floats cannot be cast");
  for (const int type : {0, 3, 11, 14, -1}) {
    ExpectThrows([&] { RunOp(&ws, CastTo(type)); },
                 "argument to is " + std::to_string(type) + ", want FLOAT, DOUBLE");
  }
  ExpectThrows([&] { RunOp(&ws, CastTo("nonsense")); }, "argument to is \"nonsense\", want FLOAT");
  Feed<uint32_t>(&ws, "X", {1}, {1});
  ExpectThrows([&] { RunOp(&ws, CastTo(TensorProto::STRING)); },
               "is of type uint32, which is not cast to strings");
  Feed<std::string>(&ws, "X", {1}, {"1"});
  ExpectThrows([&] { RunOp(&ws, CastTo(TensorProto::UINT64)); },
               "input 0 (X) is of type string, want numbers");
  ExpectThrows([&] { RunOp(&ws, CastTo(1)); }, "Unsupported type of tensor: input 0 (X)");
  ExpectThrows(
      [&] { RunOp(&ws, R"(type: "Cast" input: "X" output: "X" arg { name: "to" i: 1 })"); },
      "in place");
}

TEST(CastGradientTest, CastsBackToTheTypeOfTheInput) {
  const auto describe = [](const std::string& args) {
    return test::DescribeGradient(R"(type: "Cast" input: "X" output: "Y" )" + args);
  };
  EXPECT_EQ(describe(R"(arg { name: "to" i: 2 } arg { name: "from_type" s: "double" })"),
            "Cast(Y_grad)->X_grad to=13 from_type=2 | X_grad");
  ExpectThrows([&] { describe(R"(arg { name: "to" i: 2 })"); }, "argument from_type is missing");
  ExpectThrows([&] { describe(R"(arg { name: "to" s: "half" } arg { name: "from_type" i: 1 })"); },
               "argument to is \"half\", which is not a name of TensorProto.DataType");
  Workspace ws;
  Feed<float>(&ws, "X", {2}, {1.5f, -2});
  test::ExpectGradientMatches(
      &ws,
      R"(type: "Cast" input: "X" output: "Y" arg { name: "to" i: 13 } arg { name: "from_type" i: 1 })");
}

}  // namespace
}  // namespace caffe2rt::cast_test
