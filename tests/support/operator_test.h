#pragma once
// Set-up and proof for operator tests: feed, run, compare.
//
//   Workspace ws;
//   Feed<float>(&ws, "X", {2, 2}, {-1, 2, -3, 4});
//   RunOp(&ws, R"(type: "Relu" input: "X" output: "Y")");
//   ExpectTensor<float>(ws, "Y", {2, 2}, {0, 2, 0, 4});
//   ExpectThrows([&] { RunOp(&ws, R"(type: "Relu" input: "X" output: "Y" output: "Z")"); },
//   "outputs"); ExpectShapeInferred(&ws, R"(type: "Relu" input: "X" output: "Y")");

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

// Text protos. A text that does not parse THROWS.
NetDef ParseNet(const std::string& text);
OperatorDef ParseOp(const std::string& text);

// Makes (or overwrites) a CPU tensor. REQUIRES as many values as `dims` say. A scalar has no dims.
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
// The same with values start, start + step, ...
template <class T>
Tensor* FeedRange(Workspace* ws, const std::string& name, const std::vector<int64_t>& dims,
                  double start = 0, double step = 1) {
  Tensor* tensor = ws->CreateBlob(name)->GetMutableTensor(CPU);
  tensor->Resize(dims);
  T* data = tensor->mutable_data<T>();
  for (int64_t i = 0; i < tensor->numel(); ++i) data[i] = static_cast<T>(start + step * i);
  return tensor;
}
// The same with values of a fixed pseudo-random sequence in [low, high).
std::vector<float> RandomValues(int64_t count, float low = -1, float high = 1, uint32_t seed = 1);
Tensor* FeedRandom(Workspace* ws, const std::string& name, const std::vector<int64_t>& dims,
                   float low = -1, float high = 1, uint32_t seed = 1);

// Makes the operator and runs it once, with CAFFE2_TEST_DEVICE=cuda on CUDA (device_run.h; a test
// of an operator that has no form there is skipped). THROWS what it throws; a false return becomes
// an exception.
void RunOp(Workspace* ws, const std::string& text);

template <class T>
std::vector<T> Fetch(const Workspace& ws, const std::string& name) {
  const Blob* blob = ws.GetBlob(name);
  CAFFE_ENFORCE(blob != nullptr, "blob \"", name, "\" is not there");
  const Tensor& tensor = blob->Get<Tensor>();
  const T* data = tensor.data<T>();
  return std::vector<T>(data, data + tensor.numel());
}
// Its dimensions.
std::vector<int64_t> DimsOf(const Workspace& ws, const std::string& name);

// Type, dims and values. A float may be off by tolerance * max(1, |want|); NaN matches NaN.
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
      equal = got[i] == want[i] || (std::isnan(got[i]) && std::isnan(want[i])) ||
              std::abs(static_cast<double>(got[i]) - want[i]) <=
                  tolerance * std::max(1.0, std::abs(static_cast<double>(want[i])));
    } else {
      equal = got[i] == want[i];
    }
    if (equal) continue;
    ++reported;
    ADD_FAILURE() << "element " << i << " is " << testing::PrintToString(got[i]) << ", want "
                  << testing::PrintToString(want[i]);
  }
}

// `act` throws EnforceNotMet, and its message() holds `part`.
void ExpectThrows(const std::function<void()>& act, const std::string& part);

// Runs the operator and compares what its schema infers from the inputs' shapes with what came out.
// An output may be unknown only with `may_be_unknown`. Inputs of unknown shape must give unknown
// outputs and no crash.
void ExpectShapeInferred(Workspace* ws, const std::string& text, bool may_be_unknown = false);

// What the schema says for the operator over the blobs of `ws`.
std::vector<TensorShape> InferShapes(const Workspace& ws, const OperatorDef& def);

}  // namespace caffe2rt::test
