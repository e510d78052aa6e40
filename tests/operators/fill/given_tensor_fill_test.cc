#include <utility>

#include "tests/support/operator_test.h"

namespace caffe2rt::given_tensor_fill_test {
namespace {

using test::ExpectShapeInferred;
using test::ExpectTensor;
using test::ExpectThrows;
using test::Feed;
using test::RunOp;

TEST(GivenTensorFillTest, ReadsFloatsFromTheArgument) {
  Workspace ws;
  const char* op = R"(type: "GivenTensorFill" output: "Y" arg { name: "shape" ints: 2 ints: 1 }
                      arg { name: "values" floats: 1.5 floats: -2 })";
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "Y", {2, 1}, {1.5, -2});
  ExpectShapeInferred(&ws, op);
}

TEST(GivenTensorFillTest, ReadsIntegersIfDtypeRequestsThem) {
  Workspace ws;
  RunOp(
      &ws,
      R"(type: "GivenTensorFill" output: "Y" arg { name: "shape" ints: 2 } arg { name: "dtype" i: 10 }
                arg { name: "values" ints: 1 ints: 8589934592 })");
  ExpectTensor<int64_t>(ws, "Y", {2}, {1, 8589934592});
  RunOp(
      &ws,
      R"(type: "GivenTensorFill" output: "Y" arg { name: "shape" ints: 1 } arg { name: "dtype" i: 13 }
                arg { name: "values" floats: 0.5 })");
  ExpectTensor<double>(ws, "Y", {1}, {0.5});
}

template <class T>
void ExpectDtype(int dtype, const std::string& values, const std::vector<T>& want) {
  SCOPED_TRACE(dtype);
  Workspace ws;
  const std::string op =
      R"(type: "GivenTensorFill" output: "Y" arg { name: "shape" ints: 2 } arg { name: "dtype" i: )" +
      std::to_string(dtype) + " } arg { name: \"values\" " + values + "}";
  RunOp(&ws, op);
  ExpectTensor<T>(ws, "Y", {2}, want);
  ExpectShapeInferred(&ws, op);
}

TEST(GivenTensorFillTest, MakesEachNumericTypeThatDtypeNames) {
  ExpectDtype<float>(1, "floats: 0.5 floats: 2", {0.5, 2});
  ExpectDtype<int32_t>(2, "ints: -1 ints: 7", {-1, 7});
  ExpectDtype<bool>(5, "ints: 0 ints: 7", {false, true});
  ExpectDtype<int16_t>(9, "ints: -1 ints: 7", {-1, 7});
  ExpectDtype<int64_t>(10, "ints: -1 ints: 8589934592", {-1, 8589934592});
  ExpectDtype<double>(13, "floats: 0.5 floats: 2", {0.5, 2});
}

template <class T>
void ExpectTyped(const std::string& type, const std::string& values, const std::vector<T>& want) {
  SCOPED_TRACE(type);
  Workspace ws;
  const std::string op = "type: \"" + type + "\" output: \"Y\" arg { name: \"shape\" ints: 2 } " +
                         "arg { name: \"dtype\" i: 99 } arg { name: \"values\" " + values + "}";
  RunOp(&ws, op);
  ExpectTensor<T>(ws, "Y", {2}, want);
  ExpectShapeInferred(&ws, op);
}

TEST(GivenTensorFillTest, SiblingsHaveTheTypeOfTheirName) {
  ExpectTyped<bool>("GivenTensorBoolFill", "ints: 0 ints: 7", {false, true});
  ExpectTyped<double>("GivenTensorDoubleFill", "floats: 0.5 floats: 2", {0.5, 2});
  ExpectTyped<int32_t>("GivenTensorIntFill", "ints: -1 ints: 7", {-1, 7});
  ExpectTyped<int16_t>("GivenTensorInt16Fill", "ints: -1 ints: 7", {-1, 7});
  ExpectTyped<int64_t>("GivenTensorInt64Fill", "ints: -1 ints: 7", {-1, 7});
  ExpectTyped<std::string>("GivenTensorStringFill", R"(strings: "a" strings: "")", {"a", ""});
}

TEST(GivenTensorFillTest, MakesEmptyTensorsAndScalars) {
  Workspace ws;
  RunOp(
      &ws,
      R"(type: "GivenTensorFill" output: "Y" arg { name: "shape" ints: 0 } arg { name: "values" })");
  ExpectTensor<float>(ws, "Y", {0}, {});
  RunOp(&ws, R"(type: "GivenTensorFill" output: "Y" arg { name: "values" floats: 4 })");
  ExpectTensor<float>(ws, "Y", {}, {4});
}

TEST(GivenTensorFillTest, UsesTheShapeOfAnInput) {
  Workspace ws;
  Feed<int64_t>(&ws, "X", {1}, {2});
  const char* op =
      R"(type: "GivenTensorFill" input: "X" output: "Y" arg { name: "extra_shape" ints: 2 }
                      arg { name: "values" floats: 1 floats: 2 })";
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "Y", {1, 2}, {1, 2});
  ExpectShapeInferred(&ws, op);
}

TEST(GivenTensorFillTest, RejectsTooFewTooManyOrMistypedValues) {
  Workspace ws;
  const std::string head = R"(type: "GivenTensorFill" output: "Y" arg { name: "shape" ints: 2 } )";
  for (const char* values :
       {"floats: 1", "floats: 1 floats: 2 floats: 3", "ints: 1 ints: 2", "f: 1"}) {
    ExpectThrows([&] { RunOp(&ws, head + "arg { name: \"values\" " + values + "}"); },
                 "want as many as argument values has");
  }
  ExpectThrows([&] { RunOp(&ws, head); }, "values");
}

TEST(GivenTensorFillTest, RejectsIntegersOutOfRangeAndUnsupportedTypes) {
  Workspace ws;
  ExpectThrows(
      [&] {
        RunOp(&ws, R"(type: "GivenTensorIntFill" output: "Y" arg { name: "shape" ints: 1 }
                      arg { name: "values" ints: 8589934592 })");
      },
      "element of argument values is 8589934592");
  ExpectThrows(
      [&] {
        RunOp(
            &ws,
            R"(type: "GivenTensorFill" output: "Y" arg { name: "dtype" i: 6 } arg { name: "values" ints: 1 })");
      },
      "argument \"dtype\" is 6, want FLOAT (1), INT32 (2), STRING (4), BOOL (5), INT16 (9), "
      "INT64 (10) or DOUBLE (13)");
}

// Without the argument shape the output is a scalar, which has one element.
TEST(GivenTensorFillTest, InfersTheShapeOnlyIfItHasAsManyElementsAsValues) {
  const std::pair<const char*, std::vector<const char*>> types[] = {
      {"GivenTensorFill", {"", "floats: 1 ", "floats: 1 floats: 2 "}},
      {"GivenTensorIntFill", {"", "ints: 1 ", "ints: 1 ints: 2 "}},
      {"GivenTensorBoolFill", {"", "ints: 1 ", "ints: 1 ints: 0 "}},
      {"GivenTensorStringFill", {"", "strings: 'a' ", "strings: 'a' strings: 'b' "}}};
  const std::pair<const char*, std::vector<int64_t>> shapes[] = {
      {"", {}}, {"ints: 1", {1}}, {"ints: 2", {2}}, {"ints: 1 ints: 2", {1, 2}}};
  Workspace ws;
  for (const auto& [type, values] : types) {
    for (const auto& [shape, dims] : shapes) {
      const int64_t elements = dims.empty() ? 1 : dims.back();
      for (int64_t count = 0; count < 3; ++count) {
        const std::string op =
            MakeString("type: '", type, "' output: 'Y' ",
                       dims.empty() ? "" : MakeString("arg { name: 'shape' ", shape, " } "),
                       "arg { name: 'values' ", values[static_cast<size_t>(count)], "}");
        SCOPED_TRACE(op);
        const auto infer = [&] { return test::InferShapes(ws, test::ParseOp(op)); };
        // The values may be elsewhere.
        if (count == 0 || count == elements) {
          const TensorShape inferred = infer()[0];
          EXPECT_EQ(std::vector<int64_t>(inferred.dims().begin(), inferred.dims().end()), dims);
        } else {
          ExpectThrows(infer, MakeString("elements of the output of shape ", IntArrayRef(dims),
                                         ", want as many as argument values has (got ", elements,
                                         ", want ", count, ")"));
        }
        if (count != elements) {
          ExpectThrows([&] { RunOp(&ws, op); }, MakeString("output of shape ", IntArrayRef(dims)));
        }
      }
    }
  }
}

}  // namespace
}  // namespace caffe2rt::given_tensor_fill_test
