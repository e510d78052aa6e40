#pragma once
// Tables of cases for operators with ONNX's meaning: an operator, its inputs, and the outputs that ONNX's
// reference evaluator (onnx 1.23, which shares no code with this library) computed for them.
//
//   const OnnxCase kCases[] = {
//       {"ONNXMod", R"(arg { name: "fmod" i: 1 })", {I32({3}, {-4, 7, 5}), I32({1}, {3})}, {I32({3}, {-1, 1, 2})}}};
//   TEST(OnnxModTest, AgreesWithTheReference) { for (const OnnxCase& c : kCases) ExpectOnnxCase(c); }
//
// The inputs are called A, B, C, ...; the outputs Y0, Y1, ....

#include <string>
#include <vector>

#include "tests/support/operator_test.h"

namespace caffe2rt::test {

// A tensor whose elements are given as doubles, which hold all numbers of the tables exactly.
struct OnnxCaseTensor {
  TensorProto_DataType type;
  std::vector<int64_t> dims;
  std::vector<double> values;
};
inline OnnxCaseTensor F32(std::vector<int64_t> dims, std::vector<double> values) {
  return {TensorProto::FLOAT, std::move(dims), std::move(values)};
}
inline OnnxCaseTensor F64(std::vector<int64_t> dims, std::vector<double> values) {
  return {TensorProto::DOUBLE, std::move(dims), std::move(values)};
}
inline OnnxCaseTensor I64(std::vector<int64_t> dims, std::vector<double> values) {
  return {TensorProto::INT64, std::move(dims), std::move(values)};
}
inline OnnxCaseTensor I32(std::vector<int64_t> dims, std::vector<double> values) {
  return {TensorProto::INT32, std::move(dims), std::move(values)};
}
inline OnnxCaseTensor I16(std::vector<int64_t> dims, std::vector<double> values) {
  return {TensorProto::INT16, std::move(dims), std::move(values)};
}
inline OnnxCaseTensor I8(std::vector<int64_t> dims, std::vector<double> values) {
  return {TensorProto::INT8, std::move(dims), std::move(values)};
}
inline OnnxCaseTensor U8(std::vector<int64_t> dims, std::vector<double> values) {
  return {TensorProto::UINT8, std::move(dims), std::move(values)};
}
inline OnnxCaseTensor U16(std::vector<int64_t> dims, std::vector<double> values) {
  return {TensorProto::UINT16, std::move(dims), std::move(values)};
}
inline OnnxCaseTensor Bool(std::vector<int64_t> dims, std::vector<double> values) {
  return {TensorProto::BOOL, std::move(dims), std::move(values)};
}

struct OnnxCase {
  const char* type;
  const char* arguments;  // text of the OperatorDef
  std::vector<OnnxCaseTensor> inputs, outputs;
  double tolerance = 0;  // times max(1, |want|)
};

// The text of the case's operator.
std::string OnnxCaseOp(const OnnxCase& c);
// Feeds the inputs.
void FeedOnnxCase(Workspace* ws, const OnnxCase& c);
// Runs the case and compares the outputs, and the shapes that the schema infers. Further runs on the CPU
// have the same outputs, and neither allocate nor lock.
void ExpectOnnxCase(const OnnxCase& c);

}  // namespace caffe2rt::test
