#include <type_traits>

#include "caffe2_core/tensor/data_type.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::constant_fill_test {
namespace {

using test::ExpectShapeInferred;
using test::ExpectTensor;
using test::ExpectThrows;
using test::Feed;
using test::RunOp;

template <class T>
class ConstantFillTypeTest : public testing::Test {};
template <class T>
std::string DtypeArgument() {
  const int number = TypeMetaToDataType(TypeMeta::Make<T>());
  const bool real = std::is_floating_point_v<T>;
  return "arg { name: \"dtype\" i: " + std::to_string(number) + " } arg { name: \"value\" " +
         (real ? "f" : "i") + ": 3 }";
}
using NumericTypes =
    testing::Types<float, double, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t>;
TYPED_TEST_SUITE(ConstantFillTypeTest, NumericTypes);

TYPED_TEST(ConstantFillTypeTest, MakesElementsOfDtype) {
  Workspace ws;
  const std::string op = R"(type: "ConstantFill" output: "Y" arg { name: "shape" ints: 2 })" +
                         DtypeArgument<TypeParam>();
  RunOp(&ws, op);
  ExpectTensor<TypeParam>(ws, "Y", {2}, {TypeParam(3), TypeParam(3)});
  ExpectShapeInferred(&ws, op);
}

TEST(ConstantFillTest, MakesAFloatZeroWithoutArguments) {
  Workspace ws;
  RunOp(&ws, R"(type: "ConstantFill" output: "Y")");
  ExpectTensor<float>(ws, "Y", {}, {0});
}

TEST(ConstantFillTest, DerivesTheTypeFromTheValue) {
  Workspace ws;
  const char* op = R"(type: "ConstantFill" output: "Y" arg { name: "value" i: 5 })";
  RunOp(&ws, op);
  ExpectTensor<int64_t>(ws, "Y", {}, {5});
  ExpectShapeInferred(&ws, op);
  RunOp(&ws, R"(type: "ConstantFill" output: "Y" arg { name: "value" f: 2.5 })");
  ExpectTensor<float>(ws, "Y", {}, {2.5});
}

TEST(ConstantFillTest, MakesBooleansAndStrings) {
  Workspace ws;
  RunOp(&ws,
        R"(type: "ConstantFill" output: "Y" arg { name: "shape" ints: 1 } arg { name: "dtype" i: 5 }
                arg { name: "value" i: 300 })");
  ExpectTensor<bool>(ws, "Y", {1}, {true});
  RunOp(&ws,
        R"(type: "ConstantFill" output: "Y" arg { name: "shape" ints: 2 } arg { name: "dtype" i: 4 }
                arg { name: "value" s: "ab" })");
  ExpectTensor<std::string>(ws, "Y", {2}, {"ab", "ab"});
}

TEST(ConstantFillTest, UsesTheShapeOfTheInputAndExtendsIt) {
  Workspace ws;
  Feed<int32_t>(&ws, "X", {0, 3}, {});
  const char* op =
      R"(type: "ConstantFill" input: "X" output: "Y" arg { name: "extra_shape" ints: 2 })";
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "Y", {0, 3, 2}, {});
  ExpectShapeInferred(&ws, op);
}

TEST(ConstantFillTest, ReadsTheShapeFromTheInputsValues) {
  Workspace ws;
  Feed<int64_t>(&ws, "X", {2}, {1, 2});
  const char* op =
      R"(type: "ConstantFill" input: "X" output: "Y" arg { name: "input_as_shape" i: 1 }
                      arg { name: "value" f: 7 })";
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "Y", {1, 2}, {7, 7});
  ExpectShapeInferred(&ws, op, true);
}

TEST(ConstantFillTest, ReadsTheValueFromTheSecondInput) {
  Workspace ws;
  Feed<float>(&ws, "X", {2}, {8, 9});
  Feed<int32_t>(&ws, "V", {1}, {4});
  RunOp(&ws,
        R"(type: "ConstantFill" input: "X" input: "V" output: "Y" arg { name: "dtype" i: 2 })");
  ExpectTensor<int32_t>(ws, "Y", {2}, {4, 4});
}

TEST(ConstantFillTest, OverwritesItsInputInPlace) {
  Workspace ws;
  Feed<float>(&ws, "X", {2}, {8, 9});
  RunOp(&ws, R"(type: "ConstantFill" input: "X" output: "X" arg { name: "value" f: 1 })");
  ExpectTensor<float>(ws, "X", {2}, {1, 1});
}

TEST(ConstantFillTest, ReportsWhatIsWrongWithTheShape) {
  Workspace ws;
  Feed<float>(&ws, "X", {2}, {8, 9});
  Feed<int32_t>(&ws, "I", {1}, {2});
  Feed<int64_t>(&ws, "E", {0}, {});
  ExpectThrows(
      [&] {
        RunOp(&ws, R"(type: "ConstantFill" input: "X" output: "Y" arg { name: "shape" ints: 2 })");
      },
      "cannot set both");
  ExpectThrows(
      [&] { RunOp(&ws, R"(type: "ConstantFill" output: "Y" arg { name: "shape" i: 2 })"); },
      "want a list of integers");
  ExpectThrows(
      [&] {
        RunOp(&ws, R"(type: "ConstantFill" output: "Y" arg { name: "extra_shape" ints: 2 })");
      },
      "no input to extend");
  ExpectThrows(
      [&] {
        RunOp(&ws, R"(type: "ConstantFill" output: "Y" arg { name: "input_as_shape" i: 1 })");
      },
      "input_as_shape is set but there is no input");
  ExpectThrows(
      [&] {
        RunOp(&ws,
              R"(type: "ConstantFill" input: "I" output: "Y" arg { name: "input_as_shape" i: 1 })");
      },
      "int");
  ExpectThrows(
      [&] {
        RunOp(&ws,
              R"(type: "ConstantFill" input: "E" output: "Y" arg { name: "input_as_shape" i: 1 })");
      },
      "want at least one");
}

TEST(ConstantFillTest, RejectsInvalidShapes) {
  Workspace ws;
  ExpectThrows(
      [&] { RunOp(&ws, R"(type: "ConstantFill" output: "Y" arg { name: "shape" ints: -1 })"); },
      "want at least 0");
  ExpectThrows(
      [&] {
        RunOp(&ws, R"(type: "ConstantFill" output: "Y"
                      arg { name: "shape" ints: 1099511627776 ints: 1099511627776 })");
      },
      "overflow");
}

TEST(Float16ConstantFillTest, RoundsTheValue) {
  Workspace ws;
  const std::string type = R"(type: "Float16ConstantFill" output: "Y" )";
  ExpectShapeInferred(
      &ws, type + R"(arg { name: "shape" ints: 2 ints: 1 } arg { name: "value" f: 1.1 })");
  // The nearest number of float16 to 1.1 is 1126 / 1024.
  ExpectTensor<float16>(ws, "Y", {2, 1}, {1.099609375f, 1.099609375f});
  RunOp(&ws, type);
  ExpectTensor<float16>(ws, "Y", {}, {0.0f});
  ExpectThrows([&] { RunOp(&ws, type + R"(arg { name: "shape" ints: -1 })"); }, "-1");
}

TEST(ConstantFillTest, RejectsUnsupportedTypesAndValuesOutOfRange) {
  Workspace ws;
  for (const char* dtype : {"0", "3", "12", "99"}) {
    ExpectThrows(
        [&] {
          RunOp(&ws, std::string(R"(type: "ConstantFill" output: "Y" arg { name: "dtype" i: )") +
                         dtype + "}");
        },
        std::string("argument \"dtype\" is ") + dtype + ", want ");
  }
  ExpectThrows(
      [&] { RunOp(&ws, R"(type: "ConstantFill" output: "Y" arg { name: "value" s: "x" })"); },
      "neither a float nor an integer");
  ExpectThrows(
      [&] {
        RunOp(
            &ws,
            R"(type: "ConstantFill" output: "Y" arg { name: "dtype" i: 6 } arg { name: "value" i: 300 })");
      },
      "300");
}

}  // namespace
}  // namespace caffe2rt::constant_fill_test
