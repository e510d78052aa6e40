#include "tests/support/operator_test.h"

namespace caffe2rt {
namespace {

using test::ExpectShapeInferred;
using test::ExpectTensor;
using test::ExpectThrows;
using test::RunOp;

TEST(GivenTensorByteStringToUInt8FillTest, TakesBytesFromTheFirstString) {
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

TEST(GivenTensorByteStringToUInt8FillTest, RefusesToReadBeyondTheString) {
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
}  // namespace caffe2rt
