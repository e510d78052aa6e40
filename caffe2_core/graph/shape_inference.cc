#include "caffe2_core/graph/shape_inference.h"

#include <absl/strings/strip.h>

#include <new>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/logging.h"
#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/graph/op_schema.h"

namespace caffe2rt {
namespace {

constexpr const char kGradientSuffix[] = "_grad";

// Maps inputs of Sum operators to the output of the Sum, where no shape was known when the operator
// was reached. Both have the same shape.
using SumLinks = std::map<std::string, std::string>;

// Runs inference over nets in order. With `keep_going`, records a result for each operator and
// continues after failures. Without it, stops at the first exception of an inference function.
class Inference {
 public:
  Inference(ShapeMap* shapes, bool keep_going) : shapes_(*shapes), keep_going_(keep_going) {}

  void AddNet(const NetDef& net, int net_index) {
    sums_.clear();
    for (int i = 0; i < net.op_size() && !failed_; ++i) {
      OpShapes result;
      result.net = net_index;
      result.op = i;
      AddOperator(net.op(i), &result);
      if (keep_going_) results_.push_back(std::move(result));
    }
    for (const auto& [input, output] : sums_) {
      if (const auto it = shapes_.find(output); it != shapes_.end()) shapes_[input] = it->second;
    }
  }

  // An inference function threw and keep_going is false.
  bool failed() const { return failed_; }
  std::vector<OpShapes> TakeResults() { return std::move(results_); }

 private:
  void AddOperator(const OperatorDef& op, OpShapes* result) {
    result->outputs.assign(static_cast<size_t>(op.output_size()), UnknownShape());
    const bool all_known = GatherInputs(op, result);
    const std::string& type = op.type();
    if (type.find("Enqueue") != std::string::npos || type.find("Dequeue") != std::string::npos) {
      result->problem = "queue operators have no shape inference";
    } else if (const OpSchema* schema = OpSchemaRegistry::Schema(type); schema == nullptr) {
      LOG(WARNING) << "shape inference skips operator " << type << ": it has no schema";
      if (result->problem.empty()) result->problem = "no schema";
    } else if (all_known) {
      Infer(*schema, op, result);
    } else {
      LOG(WARNING) << "shape inference skips operator " << type << ": " << result->problem;
    }
    // The outputs no longer have the shapes that earlier operators gave them.
    if (keep_going_ && !result->problem.empty()) {
      for (const std::string& output : op.output()) shapes_.erase(output);
    }
  }

  bool GatherInputs(const OperatorDef& op, OpShapes* result) {
    bool all_known = true;
    for (const std::string& input : op.input()) {
      const auto it = shapes_.find(input);
      if (it == shapes_.end()) {
        if (all_known)
          result->problem = MakeString("the shape of input \"", input, "\" is not known");
        all_known = false;
        result->inputs.push_back(UnknownShape());
      } else {
        result->inputs.push_back(it->second);
      }
    }
    return all_known;
  }

  void Infer(const OpSchema& schema, const OperatorDef& op, OpShapes* result) {
    if (schema.traits().sums_inputs) SpreadSum(op);
    std::vector<TensorShape> out;
    try {
      if (op.type() == "Reshape" && op.is_gradient_op() && (!keep_going_ || HasReshapeOf(op))) {
        out = ReshapeGradient(op);
      } else {
        out = schema.InferTensor(op, result->inputs);
      }
      if (op.is_gradient_op()) TakeShapesOfVariables(op, &out);
      if (op.type() == "Reshape" && !op.is_gradient_op() && op.output_size() > 1 &&
          op.input_size() > 0) {
        before_reshape_[op.output(1)] = result->inputs[0];
      }
    } catch (...) {
      Fail(op, CurrentExceptionMessage(), result);
      return;
    }
    if (out.size() != static_cast<size_t>(op.output_size())) {
      if (schema.traits().no_shape_reason != nullptr && out.empty()) {
        result->problem = schema.traits().no_shape_reason;
        return;
      }
      const std::string text =
          MakeString("Invalid shape inference for operator ", op.type(), " Expected ",
                     op.output_size(), " outputs, but got ", out.size());
      CAFFE_ENFORCE(keep_going_, text);
      result->problem = text;
      result->failed = true;
      return;
    }
    for (int i = 0; i < op.output_size(); ++i) shapes_[op.output(i)] = out[static_cast<size_t>(i)];
    result->outputs = std::move(out);
  }

  void Fail(const OperatorDef& op, const std::string& why, OpShapes* result) {
    result->problem = why;
    result->failed = true;
    if (keep_going_) return;
    LOG(ERROR) << "shape inference of operator " << op.type()
               << " failed, no shapes are returned: " << why;
    failed_ = true;
  }

  // The inputs of a sum have equal shapes, so one known shape is the shape of all. This affects
  // later operators only: the inputs of the sum itself were gathered before.
  void SpreadSum(const OperatorDef& op) {
    TensorShape known;
    for (const std::string& input : op.input()) {
      const TensorShape& shape = shapes_[input];
      if (!shape.unknown_shape() && shape.dims_size() > 0) {
        known = shape;
        break;
      }
    }
    for (const std::string& input : op.input()) {
      if (!shapes_[input].unknown_shape()) continue;
      if (known.dims_size() > 0) {
        shapes_[input] = known;
      } else if (op.output_size() > 0) {
        sums_[input] = op.output(0);
      }
    }
  }

  bool HasReshapeOf(const OperatorDef& op) const {
    return op.input_size() > 1 && before_reshape_.contains(op.input(1));
  }

  // The gradient has the shape that the input of the Reshape had. The second output of the Reshape,
  // which the gradient reads, identifies the Reshape.
  std::vector<TensorShape> ReshapeGradient(const OperatorDef& op) {
    CAFFE_ENFORCE(HasReshapeOf(op), "the nets do not contain the Reshape whose gradient this is");
    return {before_reshape_[op.input(1)]};
  }

  // Gives an output "x_grad" whose shape is not known the shape of x.
  void TakeShapesOfVariables(const OperatorDef& op, std::vector<TensorShape>* out) {
    for (size_t i = 0; i < out->size() && i < static_cast<size_t>(op.output_size()); ++i) {
      if (!(*out)[i].unknown_shape()) continue;
      absl::string_view name = op.output(static_cast<int>(i));
      if (!absl::ConsumeSuffix(&name, kGradientSuffix)) continue;
      const auto it = shapes_.find(std::string(name));
      if (it != shapes_.end()) (*out)[i] = it->second;
    }
  }

  ShapeMap& shapes_;
  const bool keep_going_;
  bool failed_ = false;
  SumLinks sums_;
  ShapeMap before_reshape_;  // shapes of Reshape inputs, by the name of the second output
  std::vector<OpShapes> results_;
};

void CheckNotNull(const std::vector<const NetDef*>& nets, const ShapeMap* shapes) {
  CAFFE_ENFORCE(shapes != nullptr, "argument shapes of shape inference is null");
  for (size_t i = 0; i < nets.size(); ++i) {
    CAFFE_ENFORCE(nets[i] != nullptr, "argument nets of shape inference has a null net at ", i);
  }
}

}  // namespace

TensorShapes InferBlobShapesAndTypes(const std::vector<const NetDef*>& nets, ShapeMap* shapes) try {
  CheckNotNull(nets, shapes);
  Inference inference(shapes, /*keep_going=*/false);
  TensorShapes result;
  for (size_t i = 0; i < nets.size(); ++i) {
    inference.AddNet(*nets[i], static_cast<int>(i));
    if (inference.failed()) return result;
  }
  for (const auto& [name, shape] : *shapes) {
    TensorShape* entry = result.add_shapes();
    *entry = shape;
    entry->set_name(name);
  }
  return result;
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

std::vector<OpShapes> InferOpShapes(const std::vector<const NetDef*>& nets, ShapeMap* shapes) try {
  CheckNotNull(nets, shapes);
  Inference inference(shapes, /*keep_going=*/true);
  for (size_t i = 0; i < nets.size(); ++i) inference.AddNet(*nets[i], static_cast<int>(i));
  return inference.TakeResults();
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

TensorShapes InferBlobShapesAndTypesFromMap(
    const std::unordered_map<std::string, std::vector<int64_t>>& blob_dimensions,
    const std::vector<NetDef*>& nets) {
  return InferBlobShapesAndTypesFromMap(blob_dimensions, {}, nets);
}

TensorShapes InferBlobShapesAndTypesFromMap(
    const std::unordered_map<std::string, std::vector<int64_t>>& blob_dimensions,
    const std::unordered_map<std::string, TensorProto_DataType>& blob_types,
    const std::vector<NetDef*>& nets) {
  ShapeMap shapes;
  for (const auto& [name, dims] : blob_dimensions) {
    for (const int64_t dim : dims)
      CAFFE_ENFORCE_GE(dim, 0, "dimension of blob \"", name, "\", want at least 0");
    const auto type = blob_types.find(name);
    shapes[name] =
        CreateTensorShape(dims, type == blob_types.end() ? TensorProto::FLOAT : type->second);
  }
  return InferBlobShapesAndTypes({nets.begin(), nets.end()}, &shapes);
}

}  // namespace caffe2rt
