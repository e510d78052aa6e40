#include "tests/support/onnx_case.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <set>

#include "caffe2_core/runtime/net.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/onnx_round_trip.h"
#include "tests/support/other_inputs.h"

namespace caffe2rt::test {

namespace {

// Calls function(T{}) for the element type.
template <class Function>
void WithCaseType(TensorProto_DataType type, const Function& function) {
  switch (type) {
    case TensorProto::FLOAT:
      return function(float{});
    case TensorProto::DOUBLE:
      return function(double{});
    case TensorProto::INT64:
      return function(int64_t{});
    case TensorProto::INT32:
      return function(int32_t{});
    case TensorProto::INT16:
      return function(int16_t{});
    case TensorProto::INT8:
      return function(int8_t{});
    case TensorProto::UINT8:
      return function(uint8_t{});
    case TensorProto::UINT16:
      return function(uint16_t{});
    case TensorProto::BOOL:
      return function(bool{});
    default:
      CAFFE_THROW("case of element type ", static_cast<int>(type), ", want a number");
  }
}

template <class T>
std::vector<T> ValuesOf(const OnnxCaseTensor& tensor) {
  std::vector<T> values;
  for (const double value : tensor.values) values.push_back(static_cast<T>(value));
  return values;
}

std::string InputName(size_t i) { return std::string(1, static_cast<char>('A' + i)); }

}  // namespace

std::string OnnxCaseOp(const OnnxCase& c) {
  std::string text = MakeString("type: \"", c.type, "\"");
  for (size_t i = 0; i < c.inputs.size(); ++i) text += " input: \"" + InputName(i) + "\"";
  for (size_t i = 0; i < c.outputs.size(); ++i) text += MakeString(" output: \"Y", i, "\"");
  return text + " " + c.arguments;
}

void FeedOnnxCase(Workspace* ws, const OnnxCase& c) {
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    WithCaseType(c.inputs[i].type, [&](auto element) {
      using T = decltype(element);
      Feed<T>(ws, InputName(i), c.inputs[i].dims, ValuesOf<T>(c.inputs[i]));
    });
  }
}

namespace {

void ExpectOutputs(const Workspace& ws, const OnnxCase& c, double tolerance) {
  for (size_t i = 0; i < c.outputs.size(); ++i) {
    WithCaseType(c.outputs[i].type, [&](auto element) {
      using T = decltype(element);
      ExpectTensor<T>(ws, MakeString("Y", i), c.outputs[i].dims, ValuesOf<T>(c.outputs[i]),
                      tolerance);
    });
  }
}

// Runs the operator three times; the last run uses the plan and the memory of those before. Then it runs after runs on
// other inputs.
void RunAgain(Workspace* ws, const OnnxCase& c) {
  if (!AllocationCounter::kCounts || std::getenv("CAFFE2_TEST_DEVICE") != nullptr) return;
  const std::string op = OnnxCaseOp(c);
  NetBase* const net = ws->CreateNet(ParseNet("name: \"steady\" op { " + op + " }"));
  ASSERT_TRUE(net->Run());
  ASSERT_TRUE(net->Run());
  const AllocationCounter counter;
  ASSERT_TRUE(net->Run());
  EXPECT_EQ(counter.Counts().allocations, 0);
  EXPECT_EQ(counter.Counts().locks, 0);
  ExpectSameAfterOtherInputs(ws, net, ParseOp(op), [&] { ExpectOutputs(*ws, c, c.tolerance); });
}

bool HasNaN(const OnnxCase& c) {
  return std::any_of(c.outputs.begin(), c.outputs.end(), [](const OnnxCaseTensor& y) {
    return std::any_of(y.values.begin(), y.values.end(), [](double v) { return std::isnan(v); });
  });
}

// The operator as a node of a model: written as ONNX, and imported again. Nothing if ONNX has no such call.
void ExpectSameAsOnnxModel(const OnnxCase& c) {
  // An imported node may become an operator of Caffe2 that loses NaN.
  if (std::getenv("CAFFE2_TEST_DEVICE") != nullptr || HasNaN(c)) return;
  const OperatorDef def = ParseOp(OnnxCaseOp(c));
  for (const bool with_weights : {false, true}) {
    SCOPED_TRACE(with_weights ? "as a model with weights" : "as a model");
    std::set<std::string> weights;
    for (size_t i = 1; with_weights && i < c.inputs.size(); ++i) weights.insert(InputName(i));
    Workspace ws;
    FeedOnnxCase(&ws, c);
    std::optional<std::string> reason;
    ASSERT_NO_THROW(reason = RunThroughOnnx(def, weights, &ws, with_weights ? 24 : 17));
    if (reason.has_value()) continue;
    ExpectOutputs(ws, c, std::max(c.tolerance, 1e-6));
  }
}

}  // namespace

void ExpectOnnxCase(const OnnxCase& c) {
  SCOPED_TRACE(OnnxCaseOp(c));
  Workspace ws;
  FeedOnnxCase(&ws, c);
  for (const bool first : {true, false}) {
    if (first) {
      ASSERT_NO_THROW(RunOp(&ws, OnnxCaseOp(c)));
    } else {
      RunAgain(&ws, c);
    }
    ExpectOutputs(ws, c, c.tolerance);
  }
  ExpectShapeInferred(&ws, OnnxCaseOp(c), /*may_be_unknown=*/true);
  ExpectSameAsOnnxModel(c);
}

}  // namespace caffe2rt::test
