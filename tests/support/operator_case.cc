#include "tests/support/operator_case.h"

#include <cstdlib>
#include <iterator>

#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/net.h"
#include "caffe2_core/tensor/data_type.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/other_inputs.h"

namespace caffe2rt::test {
namespace {

// Calls function(T()) for the element type of the name.
template <class F>
void WithNamedType(const std::string& name, const F& function) {
  if (name == "text") return function(std::string());
  bool found = false;
  const auto attempt = [&](auto element) {
    if (found || DataTypeName(TypeMeta::Make<decltype(element)>()) != name) return;
    found = true;
    function(element);
  };
  attempt(float());
  attempt(double());
  attempt(float16());
  attempt(int64_t());
  attempt(int32_t());
  attempt(int16_t());
  attempt(int8_t());
  attempt(uint8_t());
  attempt(uint16_t());
  attempt(bool());
  CAFFE_ENFORCE(found, "type ", name, " of a case is not known");
}

template <class T>
T ElementOf(double value) {
  if constexpr (std::is_same_v<T, std::string>) {
    return std::to_string(static_cast<int64_t>(value));
  } else if constexpr (std::is_same_v<T, float16>) {
    return float16(static_cast<float>(value));
  } else if constexpr (std::is_same_v<T, bool>) {
    return value != 0;
  } else {
    return static_cast<T>(value);
  }
}

void FeedRow(Workspace* ws, const std::string& name, const RowTensor& tensor) {
  WithNamedType(tensor.type, [&](auto element) {
    using T = decltype(element);
    Tensor* const blob = ws->CreateBlob(name)->GetMutableTensor(CPU);
    blob->Resize(tensor.dims);
    CAFFE_ENFORCE_EQ(blob->numel(), tensor.values.size(), "values of ", name);
    T* data = blob->mutable_data<T>();
    for (const double value : tensor.values) *data++ = ElementOf<T>(value);
  });
}

void CompareRow(const Workspace& ws, const std::string& name, const RowTensor& want,
                double tolerance) {
  SCOPED_TRACE("output " + name);
  WithNamedType(want.type, [&](auto element) {
    using T = decltype(element);
    if constexpr (std::is_floating_point_v<T>) {
      std::vector<T> values;
      for (const double value : want.values) values.push_back(static_cast<T>(value));
      ExpectTensor<T>(ws, name, want.dims, values, tolerance);
      return;
    }
    const Tensor& got = ws.GetBlob(name)->Get<Tensor>();
    EXPECT_EQ(got.dims(), want.dims);
    ASSERT_EQ(got.numel(), static_cast<int64_t>(want.values.size()));
    if (got.numel() == 0 && !got.IsType<T>()) {
      ADD_FAILURE() << "elements are " << got.dtype().name();
      return;
    }
    const T* const data = got.data<T>();
    for (size_t i = 0; i < want.values.size(); ++i) {
      const T expected = ElementOf<T>(want.values[i]);
      if constexpr (std::is_same_v<T, float16>) {
        EXPECT_NEAR(float(data[i]), float(expected), tolerance) << "element " << i;
      } else {
        EXPECT_EQ(data[i], expected) << "element " << i;
      }
    }
  });
}

void CompareRows(const Workspace& ws, const OperatorCase& row) {
  static constexpr const char* kOutputs[] = {"x", "y", "z", "w"};
  ASSERT_LE(row.outputs.size(), std::size(kOutputs));
  for (size_t i = 0; i < row.outputs.size(); ++i)
    CompareRow(ws, kOutputs[i], row.outputs[i], row.tolerance);
}

// Runs the operator on the CPU again and again, and after runs on other inputs.
void ExpectSteadyRuns(Workspace* ws, const OperatorCase& row) {
  if (!AllocationCounter::kCounts || std::getenv("CAFFE2_TEST_DEVICE") != nullptr) return;
  NetBase* const net = ws->CreateNet(ParseNet(MakeString("name: \"steady\" op { ", row.op, " }")));
  ASSERT_TRUE(net->Run());
  ASSERT_TRUE(net->Run());
  const AllocationCounter counter;
  ASSERT_TRUE(net->Run());
  EXPECT_EQ(counter.Counts().allocations, 0);
  EXPECT_EQ(counter.Counts().locks, 0);
  ExpectSameAfterOtherInputs(ws, net, ParseOp(row.op), [&] { CompareRows(*ws, row); });
}

}  // namespace

void ExpectCase(const OperatorCase& row, bool may_be_unknown) {
  Workspace ws;
  std::string name = "a";
  for (const RowTensor& input : row.inputs) {
    FeedRow(&ws, name, input);
    ++name[0];
  }
  if (row.error != nullptr) return ExpectThrows([&] { RunOp(&ws, row.op); }, row.error);
  ExpectShapeInferred(&ws, row.op, may_be_unknown);
  ExpectSteadyRuns(&ws, row);
  CompareRows(ws, row);
}

}  // namespace caffe2rt::test
