#pragma once
// Helpers for tests of Int8 operators: quantized blobs, and what QNNPACK's arithmetic gives for a
// sum, computed independently of the operators.

#include <string>
#include <vector>

#include "caffe2_core/tensor/int8_tensor.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test {

// Creates or overwrites a quantized tensor with elements of type T: uint8_t, or int32_t for a bias.
template <class T = uint8_t>
void FeedInt8(Workspace* ws, const std::string& name, const std::vector<int64_t>& dims,
              const std::vector<T>& values, float scale, int zero_point) {
  auto* value = ws->CreateBlob(name)->GetMutable<Int8TensorCPU>();
  value->scale = scale;
  value->zero_point = zero_point;
  value->t.Resize(dims);
  CAFFE_ENFORCE_EQ(value->t.numel(), values.size(), "values of \"", name, "\"");
  std::copy(values.begin(), values.end(), value->t.mutable_data<T>());
}

// The first `count` elements of a pseudo-random sequence, the same on every machine.
std::vector<uint8_t> RandomBytes(int64_t count, uint32_t seed);
// Biases from -`limit` to `limit`.
std::vector<int32_t> RandomBiases(int64_t count, int32_t limit, uint32_t seed);

// THROWS if the blob is not a quantized tensor.
const Int8TensorCPU& Int8Of(const Workspace& ws, const std::string& name);
std::vector<uint8_t> FetchInt8(const Workspace& ws, const std::string& name);

// Compares the shape, the elements and the quantization.
void ExpectInt8(const Workspace& ws, const std::string& name, const std::vector<int64_t>& dims,
                const std::vector<uint8_t>& want, float scale, int zero_point);

// The text of an operator with the arguments Y_scale and Y_zero_point, and `more` arguments:
// Int8Op("Int8Relu", "X", "Y", 0.5, 3, "arg { ... }").
std::string Int8Op(const std::string& type, const std::string& inputs, const std::string& outputs,
                   float scale, int zero_point, const std::string& more = "");
// One argument of such a text.
std::string IntArg(const std::string& name, int64_t value);
std::string FloatArg(const std::string& name, float value);
std::string StringArg(const std::string& name, const std::string& value);
std::string IntsArg(const std::string& name, const std::vector<int64_t>& values);

// The stored element for `sum` * `factor`: the factor has 31 bits and a shift, the product is
// rounded up at halves to 31 bits less, and away from zero at halves by the shift.
uint8_t ExpectedElement(int64_t sum, float factor, int zero_point, int low = 0);

// What an operator of a quantized blob reports for wrong inputs: not a quantized tensor, elements
// that are not bytes. `op` reads input "X" and has one output.
void ExpectChecksInt8Elements(Workspace* ws, const std::string& op);
// The same, and an invalid scale or zero point.
void ExpectChecksInt8Input(Workspace* ws, const std::string& op);

}  // namespace caffe2rt::test
