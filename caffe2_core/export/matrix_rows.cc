// Matrix multiplications.

#include <numeric>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/export/operator_export.h"

namespace caffe2rt {
namespace {

int64_t ProductOf(OnnxDims::const_iterator first, OnnxDims::const_iterator last) {
  return std::accumulate(first, last, int64_t{1}, [](int64_t a, int64_t b) { return a * b; });
}

// The weights as a matrix: those of Caffe's models have four axes.
std::string WeightMatrix(OperatorExport* op) {
  const OnnxDims dims = op->InputDims(1);
  auto axis = op->args.GetSingleArgument<int64_t>("axis_w", 1);
  if (axis < 0) axis += static_cast<int64_t>(dims.size());
  if (dims.size() == 2 && axis == 1) return op->In(1);
  const auto middle = dims.begin() + axis;
  const OnnxDims matrix = {ProductOf(dims.begin(), middle), ProductOf(middle, dims.end())};
  if (op->graph().Weight(op->Blob(1)) != nullptr) {
    return op->graph().ReshapedWeight(op->Blob(1), matrix);
  }
  return op->Emit("Reshape", {op->In(1), op->graph().Constant(matrix)});
}

// Y = X W^T + b of the matrices, and then the axes of X before `axis` again.
void WriteFC(OperatorExport* op) {
  const bool transposed = op->def().type() == "FCTransposed";
  const auto axis = op->args.GetSingleArgument<int64_t>("axis", 1);
  const bool is_matrix = op->KnowsInput(0) && op->Rank(0) == 2 && (axis == 1 || axis == -1);
  const int64_t from = is_matrix ? 1 : op->Axis("axis", 1);
  const std::string x =
      is_matrix ? op->In(0) : op->Emit("Flatten", {op->In(0)}, {Int("axis", from)});
  const std::vector<std::string> inputs = {x, WeightMatrix(op), op->In(2)};
  const OnnxAttributes attributes = {Int("transB", transposed ? 0 : 1)};
  if (from == 1) return op->Node("Gemm", inputs, {op->Out()}, attributes);
  const std::string matrix = op->Emit("Gemm", inputs, attributes);
  op->Node("Reshape", {matrix, op->graph().Constant(op->OutputDims(0))}, {op->Out()});
}

// An operand as a matrix, flattened at its axis.
std::string MatrixOf(OperatorExport* op, int i, const char* axis_name) {
  auto axis = op->args.GetSingleArgument<int64_t>(axis_name, 1);
  const int rank = op->Rank(i);
  if (axis < 0) axis += rank;
  if (rank == 2 && axis == 1) return op->In(i);
  return op->Emit("Flatten", {op->In(i)}, {Int("axis", axis)});
}

void WriteMatMul(OperatorExport* op) {
  CAFFE_ENFORCE(!op->HasInput(2), "input 2 (shape) of MatMul has no counterpart in ONNX");
  std::string a = MatrixOf(op, 0, "axis_a"), b = MatrixOf(op, 1, "axis_b");
  if (op->args.GetSingleArgument<int>("trans_a", 0) != 0) {
    a = op->Emit("Transpose", {a}, {Ints("perm", {1, 0})});
  }
  if (op->args.GetSingleArgument<int>("trans_b", 0) != 0) {
    b = op->Emit("Transpose", {b}, {Ints("perm", {1, 0})});
  }
  op->Node("MatMul", {a, b}, {op->Out()});
}

// Swaps the last two axes of an operand.
std::string TransposedOperand(OperatorExport* op, int i, const char* flag) {
  const std::string operand = op->In(i);
  if (op->args.GetSingleArgument<int>(flag, 0) == 0) return operand;
  const int rank = op->Rank(i);
  if (rank < 2) return operand;
  std::vector<int64_t> perm(static_cast<size_t>(rank));
  std::iota(perm.begin(), perm.end(), 0);
  std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return op->Emit("Transpose", {operand}, {Ints("perm", perm)});
}

void WriteBatchMatMul(OperatorExport* op) {
  const std::string a = TransposedOperand(op, 0, "trans_a");
  const std::string b = TransposedOperand(op, 1, "trans_b");
  if (!op->KnowsInput(0) || !op->KnowsInput(1)) {
    op->graph().Note(
        MakeString("operator \"", op->def().output(0),
                   "\" (BatchMatMul) has operands of unknown rank, which is taken to be "
                   "2 or more"));
    return op->Node("MatMul", {a, b}, {op->Out()});
  }
  if (op->Rank(0) > 1 && op->Rank(1) > 1) return op->Node("MatMul", {a, b}, {op->Out()});
  // ONNX drops more axes of vectors than Caffe2.
  const std::string product = op->Emit("MatMul", {a, b});
  op->Node("Reshape", {product, op->graph().Constant(op->OutputDims(0))}, {op->Out()});
}

}  // namespace

std::vector<OnnxExportRow> MatrixExportRows() {
  return {{"FC", WriteFC},
          {"FCTransposed", WriteFC},
          {"MatMul", WriteMatMul},
          {"BatchMatMul", WriteBatchMatMul}};
}

}  // namespace caffe2rt
