#include "tests/support/operator_test.h"

namespace caffe2rt::given_tensor_byte_string_to_uint8_fill_test {
namespace {

using test::ExpectShapeInferred;
using test::ExpectTensor;
using test::ExpectThrows;
using test::RunOp;

TEST(GivenTensorByteStringToUInt8FillTest, ReadsBytesFromTheFirstString) {
  Workspace ws;
  const char* op =
      R"(type: "GivenTensorByteStringToUInt8Fill" output: "Y" arg { name: "shape" ints: 1 ints: 3 }
                      arg { name: "values" strings: "a\000\377" })";
  RunOp(&ws, op);
  ExpectTensor<uint8_t>(ws, "Y", {1, 3}, {97, 0, 255});
  ExpectShapeInferred(&ws, op);
}

TEST(GivenTensorByteStringToUInt8FillTest, MakesAnEmptyTensorOfNoString) {
  Workspace ws;
  RunOp(&ws, R"(type: "GivenTensorByteStringToUInt8Fill" output: "Y" arg { name: "shape" ints: 0 }
                arg { name: "values" })");
  ExpectTensor<uint8_t>(ws, "Y", {0}, {});
}

// 4 is STRING, the type of the values. The original rejects every other number: 0 (UNDEFINED), 6
// (UINT8, the type of the output) and unknown ones.
TEST(GivenTensorByteStringToUInt8FillTest, AcceptsStringAloneAsDtype) {
  Workspace ws;
  const auto op = [](int dtype) {
    return R"(type: "GivenTensorByteStringToUInt8Fill" output: "Y"
              arg { name: "shape" ints: 2 } arg { name: "values" strings: "\001\377" }
              arg { name: "dtype" i: )" +
           std::to_string(dtype) + " }";
  };
  RunOp(&ws, op(4));
  ExpectTensor<uint8_t>(ws, "Y", {2}, {1, 255});
  ExpectShapeInferred(&ws, op(4));
  for (const int dtype : {0, 1, 2, 3, 5, 6, 10, 99, -1}) {
    const std::string want =
        "argument \"dtype\" is " + std::to_string(dtype) + ", want STRING (4) or none";
    ExpectThrows([&] { RunOp(&ws, op(dtype)); }, want);
    const OperatorDef def = test::ParseOp(op(dtype));
    ExpectThrows([&] { (void)OpSchemaRegistry::Schema(def.type())->InferTensor(def, {}); }, want);
  }
}

TEST(GivenTensorByteStringToUInt8FillTest, RejectsReadsBeyondTheString) {
  Workspace ws;
  ExpectThrows(
      [&] {
        RunOp(&ws,
              R"(type: "GivenTensorByteStringToUInt8Fill" output: "Y" arg { name: "shape" ints: 3 }
                      arg { name: "values" strings: "ab" strings: "c" })");
      },
      "want at most the bytes of the first string");
}

}  // namespace
}  // namespace caffe2rt::given_tensor_byte_string_to_uint8_fill_test
