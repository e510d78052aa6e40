#pragma once
// Helpers for operator tests: feed inputs, run an operator, check its outputs.
//
//   Workspace ws;
//   Feed<float>(&ws, "X", {2, 2}, {-1, 2, -3, 4});
//   RunOp(&ws, R"(type: "Relu" input: "X" output: "Y")");
//   ExpectTensor<float>(ws, "Y", {2, 2}, {0, 2, 0, 4});
//   ExpectThrows([&] { RunOp(&ws, R"(type: "Relu" input: "X" output: "Y" output: "Z")"); },
//                "outputs");
//   ExpectShapeInferred(&ws, R"(type: "Relu" input: "X" output: "Y")");

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/workspace.h"
#include "caffe2_core/tensor/tensor.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test {

// Parse a text proto. THROW if the text does not parse.
NetDef ParseNet(const std::string& text);
OperatorDef ParseOp(const std::string& text);

// Creates or overwrites a CPU tensor. THROWS if the number of values does not match `dims`. Empty
// `dims` make a scalar.
template <class T>
Tensor* Feed(Workspace* ws, const std::string& name, const std::vector<int64_t>& dims,
             const std::vector<T>& values) {
  Tensor* tensor = ws->CreateBlob(name)->GetMutableTensor(CPU);
  tensor->Resize(dims);
  CAFFE_ENFORCE_EQ(tensor->numel(), values.size(), "values of \"", name, "\"");
  T* data = tensor->mutable_data<T>();
  for (size_t i = 0; i < values.size(); ++i) data[i] = values[i];
  return tensor;
}
// Like Feed, with values start, start + step, ...
template <class T>
Tensor* FeedRange(Workspace* ws, const std::string& name, const std::vector<int64_t>& dims,
                  double start = 0, double step = 1) {
  Tensor* tensor = ws->CreateBlob(name)->GetMutableTensor(CPU);
  tensor->Resize(dims);
  T* data = tensor->mutable_data<T>();
  for (int64_t i = 0; i < tensor->numel(); ++i) data[i] = static_cast<T>(start + step * i);
  return tensor;
}
// The first `count` values of a pseudo-random sequence in [low, high), the same on every machine.
std::vector<float> RandomValues(int64_t count, float low = -1, float high = 1, uint32_t seed = 1);
// Like Feed, with RandomValues.
Tensor* FeedRandom(Workspace* ws, const std::string& name, const std::vector<int64_t>& dims,
                   float low = -1, float high = 1, uint32_t seed = 1);

// Creates the operator and runs it once. With CAFFE2_TEST_DEVICE=cuda it runs on CUDA
// (device_run.h), unless the text sets device_option; the test is skipped if the operator has no
// CUDA implementation. THROWS what the operator throws, and EnforceNotMet if it returns false.
void RunOp(Workspace* ws, const std::string& text);
void RunOp(Workspace* ws, const OperatorDef& def);

// The values of a CPU tensor. THROWS if the blob is missing or holds anything else.
template <class T>
std::vector<T> Fetch(const Workspace& ws, const std::string& name) {
  const Blob* blob = ws.GetBlob(name);
  CAFFE_ENFORCE(blob != nullptr, "blob \"", name, "\" is not in the workspace");
  const Tensor& tensor = blob->Get<Tensor>();
  const T* data = tensor.data<T>();
  return std::vector<T>(data, data + tensor.numel());
}
// The dimensions of a tensor. THROWS if the blob is missing or holds no tensor.
std::vector<int64_t> DimsOf(const Workspace& ws, const std::string& name);

// Compares type, dims and values. A float may differ by tolerance * max(1, |want|). NaN matches
// NaN.
template <class T>
void ExpectTensor(const Workspace& ws, const std::string& name, const std::vector<int64_t>& dims,
                  const std::vector<T>& want, double tolerance = 0) {
  SCOPED_TRACE("blob \"" + name + "\"");
  const Blob* blob = ws.GetBlob(name);
  ASSERT_NE(blob, nullptr) << "not in the workspace";
  ASSERT_TRUE(blob->IsType<Tensor>()) << "holds a " << blob->TypeName();
  const Tensor& tensor = blob->Get<Tensor>();
  EXPECT_EQ(tensor.dims(), dims);
  ASSERT_EQ(tensor.numel(), static_cast<int64_t>(want.size())) << "number of elements";
  ASSERT_TRUE(tensor.IsType<T>()) << "elements are " << tensor.dtype().name();
  const T* got = tensor.data<T>();
  int reported = 0;
  for (size_t i = 0; i < want.size() && reported < 5; ++i) {
    bool equal = false;
    if constexpr (std::is_floating_point_v<T>) {
      // Without isfinite, every number would be within the infinite tolerance of an infinite `want`.
      equal = got[i] == want[i] || (std::isnan(got[i]) && std::isnan(want[i])) ||
              (std::isfinite(want[i]) &&
               std::abs(static_cast<double>(got[i]) - want[i]) <=
                   tolerance * std::max(1.0, std::abs(static_cast<double>(want[i]))));
    } else {
      equal = got[i] == want[i];
    }
    if (equal) continue;
    ++reported;
    ADD_FAILURE() << "element " << i << " is " << testing::PrintToString(got[i]) << ", want "
                  << testing::PrintToString(want[i]);
  }
}

// Expects that `act` throws EnforceNotMet and that its message() contains `part`.
void ExpectThrows(const std::function<void()>& act, const std::string& part);

// Runs the operator and compares the shapes and types that its schema infers with the actual
// outputs. The schema may infer an unknown shape only if `may_be_unknown` is true, and must not
// throw for inputs of unknown shape.
void ExpectShapeInferred(Workspace* ws, const std::string& text, bool may_be_unknown = false);

// Runs the operator with one, two and three threads and expects that the bytes of all its outputs
// are the same. REQUIRES: the outputs are plain tensors, and none of them is an input.
void ExpectSameBitsForAllThreads(Workspace* ws, const std::string& text);

// The shapes that the schema infers for the outputs of `def` over the blobs of `ws`.
std::vector<TensorShape> InferShapes(const Workspace& ws, const OperatorDef& def);

}  // namespace caffe2rt::test
