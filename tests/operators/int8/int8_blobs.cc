#include "tests/operators/int8/int8_blobs.h"

#include <cmath>
#include <limits>
#include <random>
#include <sstream>

namespace caffe2rt::test {

std::vector<uint8_t> RandomBytes(int64_t count, uint32_t seed) {
  std::mt19937 generator(seed);
  std::vector<uint8_t> bytes(static_cast<size_t>(count));
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(generator() >> 24);
  return bytes;
}

std::vector<int32_t> RandomBiases(int64_t count, int32_t limit, uint32_t seed) {
  std::mt19937 generator(seed);
  std::vector<int32_t> biases(static_cast<size_t>(count));
  const auto values = static_cast<uint32_t>(2 * limit + 1);
  for (int32_t& bias : biases) bias = static_cast<int32_t>(generator() % values) - limit;
  return biases;
}

const Int8TensorCPU& Int8Of(const Workspace& ws, const std::string& name) {
  const Blob* blob = ws.GetBlob(name);
  CAFFE_ENFORCE(blob != nullptr, "blob \"", name, "\" is not in the workspace");
  return blob->Get<Int8TensorCPU>();
}

std::vector<uint8_t> FetchInt8(const Workspace& ws, const std::string& name) {
  const Tensor& tensor = Int8Of(ws, name).t;
  const uint8_t* data = tensor.data<uint8_t>();
  return {data, data + tensor.numel()};
}

void ExpectInt8(const Workspace& ws, const std::string& name, const std::vector<int64_t>& dims,
                const std::vector<uint8_t>& want, float scale, int zero_point) {
  SCOPED_TRACE("blob \"" + name + "\"");
  const Int8TensorCPU& got = Int8Of(ws, name);
  EXPECT_EQ(got.t.dims(), dims);
  EXPECT_EQ(FetchInt8(ws, name), want);
  EXPECT_EQ(got.scale, scale);
  EXPECT_EQ(got.zero_point, zero_point);
}

namespace {

std::string Names(const std::string& field, const std::string& names) {
  std::istringstream stream(names);
  std::string text, name;
  while (stream >> name) text += " " + field + ": \"" + name + "\"";
  return text;
}

}  // namespace

std::string Int8Op(const std::string& type, const std::string& inputs, const std::string& outputs,
                   float scale, int zero_point, const std::string& more) {
  return "type: \"" + type + "\"" + Names("input", inputs) + Names("output", outputs) +
         FloatArg("Y_scale", scale) + IntArg("Y_zero_point", zero_point) + more;
}

std::string IntArg(const std::string& name, int64_t value) {
  return MakeString(" arg { name: \"", name, "\" i: ", value, " }");
}

std::string FloatArg(const std::string& name, float value) {
  std::ostringstream text;
  text.imbue(std::locale::classic());
  text.precision(std::numeric_limits<float>::max_digits10);
  text << value;
  return " arg { name: \"" + name + "\" f: " + text.str() + " }";
}

std::string StringArg(const std::string& name, const std::string& value) {
  return " arg { name: \"" + name + "\" s: \"" + value + "\" }";
}

std::string IntsArg(const std::string& name, const std::vector<int64_t>& values) {
  std::string text = " arg { name: \"" + name + "\"";
  for (const int64_t value : values) text += MakeString(" ints: ", value);
  return text + " }";
}

uint8_t ExpectedElement(int64_t sum, float factor, int zero_point, int low) {
  int exponent = 0;
  const double mantissa = std::frexp(static_cast<double>(factor), &exponent);
  // Both products and quotients are exact: 32 bits times 24 bits, and powers of two.
  const long double product = static_cast<long double>(sum) * mantissa;
  const long double whole = std::floor(product + 0.5L);
  const long double shifted = std::ldexp(whole, exponent);
  const long double rounded = std::round(shifted);
  return static_cast<uint8_t>(
      std::min(std::max(rounded + zero_point, static_cast<long double>(low)), 255.0L));
}

void ExpectChecksInt8Elements(Workspace* ws, const std::string& op) {
  Feed<float>(ws, "X", {1, 1, 1, 1}, {1});
  ExpectThrows([&] { RunOp(ws, op); }, "Int8TensorCPU");
  FeedInt8<int32_t>(ws, "X", {1, 1, 1, 1}, {1}, 0.5f, 0);
  ExpectThrows([&] { RunOp(ws, op); }, "has elements of type int32, want uint8");
}

void ExpectChecksInt8Input(Workspace* ws, const std::string& op) {
  ExpectChecksInt8Elements(ws, op);
  for (const float scale : {0.0f, -1.0f, std::numeric_limits<float>::quiet_NaN(),
                            std::numeric_limits<float>::infinity()}) {
    FeedInt8(ws, "X", {1, 1, 1, 1}, {1}, scale, 0);
    ExpectThrows([&] { RunOp(ws, op); }, "want a finite scale above 0");
  }
  for (const int zero_point : {-1, 256}) {
    FeedInt8(ws, "X", {1, 1, 1, 1}, {1}, 0.5f, zero_point);
    ExpectThrows([&] { RunOp(ws, op); },
                 MakeString("has zero point ", zero_point, ", want 0 to 255"));
  }
}

}  // namespace caffe2rt::test
