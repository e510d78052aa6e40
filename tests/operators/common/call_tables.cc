#include "tests/operators/common/call_tables.h"

#include <absl/strings/match.h>
#include <absl/strings/str_join.h>
#include <absl/strings/str_split.h>

#include <functional>

#include "caffe2_core/graph/shape_inference.h"
#include "caffe2_core/tensor/data_type.h"
#include "tests/operators/common/long_calls.h"
#include "tests/support/device_run.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test {
namespace {

// The operators of a text. On a test device that is not the CPU, they name the CPU.
std::vector<OperatorDef> OperatorsOnCpu(const std::string& text) {
  std::vector<OperatorDef> operators = OperatorsOf({text.c_str(), ""});
  if (TestDevice() == CPU) return operators;
  for (OperatorDef& op : operators) op.mutable_device_option()->set_device_type(PROTO_CPU);
  return operators;
}

// Feeds the inputs and runs the operators before the last one, which is returned.
OperatorDef Prepare(const std::string& operators, const std::string& inputs, Workspace* ws) {
  if (!inputs.empty()) FeedInputs({"", inputs.c_str()}, ws);
  const std::vector<OperatorDef> defs = OperatorsOnCpu(operators);
  for (size_t i = 0; i + 1 < defs.size(); ++i) ws->RunOperatorOnce(defs[i]);
  return defs.back();
}

template <class T>
bool CompareElements(const Tensor& got, const Tensor& want, double tolerance) {
  if (!want.IsType<T>()) return false;
  for (int64_t i = 0; i < want.numel(); ++i) {
    const double a = static_cast<double>(got.data<T>()[i]);
    const double b = static_cast<double>(want.data<T>()[i]);
    const bool near = std::isfinite(b) && std::abs(a - b) <= tolerance * std::max(1.0, std::abs(b));
    const bool equal = a == b || (a != a && b != b) || near;
    EXPECT_TRUE(equal) << "element " << i << " is " << a << ", want " << b;
  }
  return true;
}

void CompareTensors(const Workspace& ws, const std::string& name, const Tensor& want,
                    double tolerance) {
  SCOPED_TRACE("result " + name);
  ASSERT_NE(ws.GetBlob(name), nullptr);
  const Tensor& got = ws.GetBlob(name)->Get<Tensor>();
  ASSERT_EQ(got.dims(), want.dims());
  ASSERT_EQ(got.dtype(), want.dtype()) << got.dtype().name();
  EXPECT_TRUE(CompareElements<float>(got, want, tolerance) ||
              CompareElements<double>(got, want, tolerance) ||
              CompareElements<int32_t>(got, want, 0) || CompareElements<int64_t>(got, want, 0) ||
              CompareElements<bool>(got, want, 0) || CompareElements<uint8_t>(got, want, 0) ||
              CompareElements<int8_t>(got, want, 0));
}

// Expects that the message, after its frames, is `want`.
void ExpectMessage(const std::function<void()>& act, const std::string& want) {
  try {
    act();
    ADD_FAILURE() << "nothing was thrown, want: " << want;
  } catch (const EnforceNotMet& error) {
    const std::string got = error.message();
    EXPECT_TRUE(got == want || absl::EndsWith(got, ": " + want)) << got << "\nwant: " << want;
  }
}

std::vector<TensorShape> ShapesOf(const OperatorDef& op, const std::string& inputs) {
  Workspace ws;
  std::vector<std::string> known;
  for (const std::string& text :
       std::vector<std::string>(absl::StrSplit(inputs, ';', absl::SkipWhitespace()))) {
    if (!absl::EndsWith(text, "?")) known.push_back(text);
  }
  const std::string texts = absl::StrJoin(known, ";");
  if (!known.empty()) FeedInputs({"", texts.c_str()}, &ws);
  return InferShapes(ws, op);
}

std::string TextOf(const TensorShape& shape) {
  const std::string type = shape.has_data_type() ? DataTypeName(shape.data_type()) : "?";
  if (shape.unknown_shape()) return type + " ?";
  return type + " [" + absl::StrJoin(GetDimsVector(shape), ", ") + "]";
}

}  // namespace

void ExpectResults(const std::vector<CallResult>& rows) {
  for (const CallResult& row : rows) {
    SCOPED_TRACE(row.operators);
    SCOPED_TRACE(row.inputs);
    Workspace ws, want;
    FeedInputs({"", row.results.c_str()}, &want);
    try {
      RunOp(&ws, Prepare(row.operators, row.inputs, &ws));
    } catch (const EnforceNotMet& error) {
      ADD_FAILURE() << error.message();
      continue;
    }
    for (const std::string& name : want.Blobs())
      CompareTensors(ws, name, want.GetBlob(name)->Get<Tensor>(), row.tolerance);
  }
}

void ExpectRejected(const std::vector<RejectedCall>& rows) {
  for (const RejectedCall& row : rows) {
    SCOPED_TRACE(row.operators);
    SCOPED_TRACE(row.inputs);
    Workspace ws;
    const OperatorDef op = Prepare(row.operators, row.inputs, &ws);
    ExpectMessage([&] { ws.RunOperatorOnce(op); }, row.message);
  }
}

void ExpectShapesRejected(const std::vector<RejectedShapes>& rows) {
  for (const RejectedShapes& row : rows) {
    SCOPED_TRACE(row.op);
    SCOPED_TRACE(row.inputs);
    ExpectMessage([&] { (void)ShapesOf(OperatorsOnCpu(row.op).back(), row.inputs); }, row.message);
  }
}

void ExpectInferred(const std::vector<InferredCall>& rows) {
  for (const InferredCall& row : rows) {
    SCOPED_TRACE(row.op);
    SCOPED_TRACE(row.inputs);
    std::vector<std::string> texts;
    try {
      for (const TensorShape& shape : ShapesOf(OperatorsOnCpu(row.op).back(), row.inputs))
        texts.push_back(TextOf(shape));
    } catch (const EnforceNotMet& error) {
      ADD_FAILURE() << error.message();
    }
    EXPECT_EQ(absl::StrJoin(texts, "; "), row.shapes);
  }
}

}  // namespace caffe2rt::test
