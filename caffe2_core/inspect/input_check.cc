#include "caffe2_core/inspect/input_check.h"

#include <absl/strings/match.h>

#include <algorithm>
#include <memory>
#include <new>
#include <utility>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/builtin_operators.h"
#include "caffe2_core/graph/nested_nets.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/io/file_access.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/runtime/workspace.h"
#include "caffe2_core/tensor/data_type.h"
#include "caffe2_core/tensor/int8_tensor.h"
#include "caffe2_core/tensor/shape_only.h"

namespace caffe2rt {
namespace {

// What a try of an operator may use besides the shapes and types of its inputs.
struct Try {
  ReadableElements readable;
  size_t limit_bytes;  // of all tensors that the operator allocates
};

bool HasSideEffect(const OpSchema& schema, const OperatorDef& op) {
  if (schema.accesses_unlisted_blobs(op)) return true;
  return schema.has_effect(Effect::kFiles, op) || schema.has_effect(Effect::kOutput, op);
}

bool CanBeTried(const OperatorDef& op, const std::vector<TensorShape>& inputs) {
  if (inputs.empty() || !IsBuiltinOperator(op.type()) || !HasOperator(CPU, op.type())) return false;
  const bool known = std::all_of(inputs.begin(), inputs.end(), [](const TensorShape& shape) {
    return !shape.unknown_shape() && shape.unknown_dims_size() == 0 && shape.has_data_type() &&
           shape.data_type() != TensorProto::UNDEFINED;
  });
  const OpSchema* const schema = OpSchemaRegistry::Schema(op.type());
  return known && schema != nullptr && !HasNestedNets(op) && !HasSideEffect(*schema, op);
}

// `values` is null if they are not known.
Tensor InputTensor(const TensorShape& shape, const Tensor* values, ReadableElements readable) {
  if (values == nullptr || values->numel() == 0 || values->nbytes() > kMostReadableBytes)
    return ShapeOnlyTensor(GetDimsVector(shape), DataTypeToTypeMeta(shape.data_type()), readable);
  Tensor tensor(CPU);
  tensor.CopyFrom(*values);
  return tensor;
}

// A tensor that was given is no quantized one.
void Feed(const OperatorDef& op, const TensorShape& shape, const Tensor* values,
          ReadableElements readable, Blob* blob) {
  Tensor tensor = InputTensor(shape, values, readable);
  // The shape of a quantized tensor is that of its elements.
  const bool quantized = values == nullptr && (shape.data_type() == TensorProto::UINT8 ||
                                               shape.data_type() == TensorProto::INT32);
  if (quantized && absl::StartsWith(op.type(), "Int8")) {
    // Operators that keep the quantization of an input compare it with these arguments.
    const ArgumentHelper args(op);
    auto* const content = blob->GetMutable<Int8TensorCPU>();
    content->t = std::move(tensor);
    content->scale = args.GetSingleArgument<float>("Y_scale", 1);
    content->zero_point = args.GetSingleArgument<int>("Y_zero_point", 0);
  } else {
    BlobSetTensor(blob, std::move(tensor));
  }
}

std::string ProblemIn(const Try& attempt, const OperatorDef& op,
                      const std::vector<TensorShape>& inputs,
                      const std::vector<const Tensor*>& values) try {
  Workspace ws;
  ws.SetFileAccess(FileAccess::Off("checks open no files"));
  for (size_t i = 0; i < inputs.size(); ++i) {
    Feed(op, inputs[i], values.empty() ? nullptr : values[i], attempt.readable,
         ws.CreateBlob(op.input(static_cast<int>(i))));
  }
  const std::unique_ptr<OperatorBase> created = CreateOperator(op, &ws);
  const ShapeOnlyScope scope(attempt.limit_bytes);
  return created->Run() ? "" : "the operator reports a failure";
} catch (const NoElements&) {
  return "";
} catch (const OutOfMemory&) {
  throw;
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
} catch (...) {
  return CurrentExceptionMessage();
}

}  // namespace

std::string InputProblem(const OperatorDef& op, const std::vector<TensorShape>& inputs,
                         const std::vector<const Tensor*>& values) {
  if (!CanBeTried(op, inputs)) return "";
  OperatorDef on_cpu = op;
  on_cpu.clear_device_option();
  // Finds checks that come after outputs were allocated. An operator that had memory and numbers
  // would compute.
  constexpr size_t kMostBytes = size_t{1} << 16;
  const std::string early =
      ProblemIn({ReadableElements::kNone, kMostBytes}, on_cpu, inputs, values);
  if (!early.empty()) return early;
  // Finds checks that come after a pointer to numbers was taken. An error that depends on the numbers
  // states them, or does not occur with others.
  const std::string late = ProblemIn({ReadableElements::kZeroFloats, 0}, on_cpu, inputs, values);
  if (late.empty()) return "";
  return late == ProblemIn({ReadableElements::kPositiveFloats, 0}, on_cpu, inputs, values) ? late
                                                                                           : "";
}

}  // namespace caffe2rt
