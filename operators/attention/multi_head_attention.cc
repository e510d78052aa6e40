// MultiHeadAttention: softmax(scale * Q K^T + mask) V for each head.
//   Q [B, T, H * D], K [B, S, H * D], V [B, S, H * E], optional mask  ->  Y [B, T, H * E]
// where the columns of a head are adjacent. The batch and the heads are broadcast if they are 1. The
// mask is broadcast to [B, H, T, S] by numpy's rules; B, H, T and the S of K become those of the
// mask where they are 1. Supports float only.
//
// With `query_shape`, Q is first reshaped as by Reshape, to [B, T, H, D] or [T, H, D]. The same holds
// for K with `key_shape` and V with `value_shape`. With `output_shape`, the result [B, T, H, E] or
// [T, H, E] is reshaped to it. These arguments replace Reshape operators around the attention. A shape
// of zeros only states the rank: nothing is reshaped. (Reshape itself makes zeros of an empty tensor.)

#include <algorithm>
#include <string>
#include <vector>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/base/thread_pool.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/attention/attention_kernel.h"
#include "operators/common/inference.h"
#include "operators/common/reshaped_dims.h"
#include "operators/primitives/gemm.h"
#include "operators/primitives/reduced_gemm.h"
#include "operators/primitives/scratch.h"

namespace caffe2rt {

namespace {

constexpr ArgumentSpec<int> kAttentionHeads{
    "heads",
    1,
    "number of heads of Q, K and V; not used if their shapes are given as arguments",
    {[](int heads) { return heads > 0; }, "above 0"}};
constexpr ArgumentSpec<float> kAttentionScale{"scale", 1.0f,
                                              "factor of the products of queries and keys"};

constexpr ArgumentSpec<bool> kAttentionNanToZero{"nan_to_zero", false,
                                                 "whether the weights of a query become 0 where "
                                                 "they would be NaN, as for one whose keys are all "
                                                 "masked by -infinity"};

constexpr ArgumentSpec<std::string> kAttentionPrecision{
    "precision",
    "f32",
    "bf16: queries, keys, values and the weights of values are rounded to bfloat16, and their "
    "products "
    "added in float, if the machine multiplies bfloat16",
    {[](const std::string& name) { return name == "f32" || name == "bf16"; }, "f32 or bf16"}};

bool IsHeadShape(const std::vector<int64_t>& shape) {
  return shape.empty() || shape.size() == 3 || shape.size() == 4;
}
constexpr RepeatedArgumentSpec<int64_t> kAttentionQueryShape{
    "query_shape",
    "Q is reshaped to this: [B, T, H, D] or [T, H, D], with 0 and -1 as in Reshape, except that "
    "zeros only keep the shape; default: Q is [B, T, H * D]",
    {IsHeadShape, "3 or 4 dimensions"}};
constexpr RepeatedArgumentSpec<int64_t> kAttentionKeyShape{
    "key_shape",
    "K is reshaped to this: [B, S, H, D] or [S, H, D]; default: K is [B, S, H * D]",
    {IsHeadShape, "3 or 4 dimensions"}};
constexpr RepeatedArgumentSpec<int64_t> kAttentionValueShape{
    "value_shape",
    "V is reshaped to this: [B, S, H, E] or [S, H, E]; default: V is [B, S, H * E]",
    {IsHeadShape, "3 or 4 dimensions"}};
constexpr RepeatedArgumentSpec<int64_t> kAttentionOutputShape{
    "output_shape",
    "the result [B, T, H, E], or [T, H, E] if query_shape has three dimensions, is reshaped to "
    "this; default: [B, T, H * E], or [T, H * E]"};

constexpr ArgumentSpec<bool> kAttentionEqualKeys{
    "equal_keys", false,
    "1: Q and K must have the same number of heads in all, as in BatchMatMul without broadcast"};
constexpr ArgumentSpec<bool> kAttentionEqualValues{
    "equal_values", false,
    "1: the weights and V must have the same number of heads in all, as in BatchMatMul without "
    "broadcast"};

constexpr ArgumentSpec<int> kAttentionMaskRank{
    "mask_rank",
    4,
    "largest rank of the mask: 3 in place of operators that have no batch",
    {[](int rank) { return rank >= 0 && rank <= 4; }, "0 to 4"}};

struct AttentionArguments {
  int heads = 1, mask_rank = 4;
  bool equal_keys = false, equal_values = false;
  std::vector<int64_t> query_shape, key_shape, value_shape, output_shape;

  AttentionArguments() = default;
  explicit AttentionArguments(const ArgumentHelper& args)
      : heads(args.Read(kAttentionHeads)),
        mask_rank(args.Read(kAttentionMaskRank)),
        equal_keys(args.Read(kAttentionEqualKeys)),
        equal_values(args.Read(kAttentionEqualValues)),
        query_shape(args.Read(kAttentionQueryShape)),
        key_shape(args.Read(kAttentionKeyShape)),
        value_shape(args.Read(kAttentionValueShape)),
        output_shape(args.Read(kAttentionOutputShape)) {}
};

// Shapes and strides; the pointers of the task are not set.
struct AttentionPlan {
  AttentionTask task;
  std::vector<int64_t> y_dims;
};

// An operand as [batch, rows, heads, size].
struct HeadDims {
  int64_t batch = 1, rows = 0, heads = 0, size = 0;
  bool has_batch = true;
};

// Whether a shape argument only states the rank.
bool KeepsShape(const std::vector<int64_t>& shape) {
  return std::all_of(shape.begin(), shape.end(), [](int64_t dim) { return dim == 0; });
}

HeadDims DimsOfOperand(IntArrayRef input, std::vector<int64_t> shape, int heads, const char* name) {
  if (shape.empty()) {
    CAFFE_ENFORCE(input.size() == 3 && input[2] % heads == 0, name, " has shape ", input,
                  ", want [batch, rows, columns] with columns that are a multiple of ", heads,
                  " heads");
    return {input[0], input[1], heads, input[2] / heads};
  }
  if (KeepsShape(shape)) {
    CAFFE_ENFORCE_EQ(input.size(), shape.size(), "rank of ", name, " of shape ", input);
    shape.assign(input.begin(), input.end());
  } else {
    ReshapedDims(input, &shape);
  }
  if (shape.size() == 3) return {1, shape[0], shape[1], shape[2], false};
  return {shape[0], shape[1], shape[2], shape[3]};
}

AttentionSteps StepsOf(const HeadDims& dims, const AttentionShape& shape) {
  AttentionSteps steps;
  steps.head = dims.heads == 1 && shape.heads != 1 ? 0 : dims.size;
  steps.row = dims.heads * dims.size;
  steps.batch = dims.batch == 1 && shape.batch != 1 ? 0 : dims.rows * steps.row;
  return steps;
}

int64_t Broadcast(int64_t a, int64_t b, const char* what, const char* name) {
  CAFFE_ENFORCE(a == b || a <= 1 || b <= 1, name, " has ", what, " ", b, ", want ", a,
                " as the other inputs, or 1");
  return a == 0 || b == 0 ? 0 : std::max(a, b);  // as in BatchMatMul
}

// THROWS if the batch and heads of `other` are not as many as those of `shape`.
void CheckEqualHeads(const HeadDims& other, const AttentionShape& shape, const char* name) {
  CAFFE_ENFORCE_EQ(CheckedMultiply(other.batch, other.heads),
                   CheckedMultiply(shape.batch, shape.heads), "heads of all batches of ", name,
                   ", want as many as those that they are multiplied by");
}

// Sets the strides of a mask that is broadcast to [batch, heads, queries, keys].
void PlanMask(IntArrayRef mask, AttentionTask* task) {
  AttentionShape& shape = task->shape;
  int64_t dims[4] = {1, 1, 1, 1};
  std::copy(mask.begin(), mask.end(), dims + 4 - mask.size());
  CAFFE_ENFORCE(dims[0] == shape.batch || dims[0] == 1 || shape.batch == 1,
                "input 3 (mask) has batch size ", dims[0], ", want ", shape.batch,
                " as the other inputs, or 1");
  if (shape.batch == 1) shape.batch = dims[0];
  if (shape.keys == 1) shape.keys = dims[3];
  if (shape.heads == 1) shape.heads = dims[1];
  if (shape.queries == 1) shape.queries = dims[2];
  CAFFE_ENFORCE(
      (dims[1] == shape.heads || dims[1] == 1) && (dims[2] == shape.queries || dims[2] == 1) &&
          (dims[3] == shape.keys || dims[3] == 1),
      "input 3 (mask) has shape ", mask, ", want one that can be broadcast to [", shape.batch, ", ",
      shape.heads, ", ", shape.queries, ", ", shape.keys, "]: batch, heads, queries, keys");
  task->mask_key_step = dims[3] == 1 ? 0 : 1;
  task->mask_steps.row = dims[2] == 1 ? 0 : dims[3];
  task->mask_steps.head = dims[1] == 1 ? 0 : dims[2] * dims[3];
  task->mask_steps.batch = dims[0] == 1 ? 0 : dims[1] * dims[2] * dims[3];
}

// THROWS if the shapes do not match. `mask` is null if there is no mask.
AttentionPlan PlanAttention(IntArrayRef q, IntArrayRef k, IntArrayRef v, const IntArrayRef* mask,
                            const AttentionArguments& args) {
  const HeadDims queries = DimsOfOperand(q, args.query_shape, args.heads, "input 0 (Q)");
  const HeadDims keys = DimsOfOperand(k, args.key_shape, args.heads, "input 1 (K)");
  const HeadDims values = DimsOfOperand(v, args.value_shape, args.heads, "input 2 (V)");
  CAFFE_ENFORCE(keys.size == queries.size, "input 1 (K) has heads of size ", keys.size, ", want ",
                queries.size, " as input 0 (Q)");
  AttentionPlan plan;
  AttentionTask& task = plan.task;
  task.shape.batch = queries.batch;
  task.shape.heads = queries.heads;
  if (args.equal_keys) CheckEqualHeads(keys, task.shape, "input 1 (K)");
  task.shape.batch = Broadcast(queries.batch, keys.batch, "batch size", "input 1 (K)");
  task.shape.heads = Broadcast(queries.heads, keys.heads, "heads", "input 1 (K)");
  task.shape.queries = queries.rows;
  task.shape.keys = keys.rows;
  task.shape.size = queries.size;
  task.shape.value_size = values.size;
  if (mask != nullptr) {
    CAFFE_ENFORCE_LE(mask->size(), static_cast<size_t>(args.mask_rank),
                     "rank of input 3 (mask) of shape ", *mask, ", want at most ", args.mask_rank);
    PlanMask(*mask, &task);
  }
  CAFFE_ENFORCE(values.rows == task.shape.keys, "input 2 (V) has heads of ", values.rows,
                " rows, want ", task.shape.keys, " as input 1 (K)",
                keys.rows == task.shape.keys ? "" : " with the mask");
  if (args.equal_values) CheckEqualHeads(values, task.shape, "input 2 (V)");
  task.shape.batch = Broadcast(task.shape.batch, values.batch, "batch size", "input 2 (V)");
  task.shape.heads = Broadcast(task.shape.heads, values.heads, "heads", "input 2 (V)");
  const int64_t batch = task.shape.batch, heads = task.shape.heads, rows = task.shape.queries;
  task.q_steps = StepsOf(queries, task.shape);
  if (queries.rows == 1 && rows != 1) task.q_steps.row = 0;
  task.k_steps = StepsOf(keys, task.shape);
  if (keys.rows == 1 && task.shape.keys != 1) task.k_steps.row = 0;
  task.v_steps = StepsOf(values, task.shape);
  task.y_steps = StepsOf({batch, rows, heads, values.size}, task.shape);
  const bool has_batch = queries.has_batch || keys.has_batch || values.has_batch || batch != 1;
  plan.y_dims = {rows, heads, values.size};
  if (has_batch) plan.y_dims.insert(plan.y_dims.begin(), batch);
  (void)CheckedProduct(plan.y_dims);
  if (!args.output_shape.empty() && KeepsShape(args.output_shape)) {
    CAFFE_ENFORCE_EQ(plan.y_dims.size(), args.output_shape.size(), "rank of the result of shape ",
                     IntArrayRef(plan.y_dims));
  } else if (!args.output_shape.empty()) {
    const std::vector<int64_t> dims = plan.y_dims;
    plan.y_dims = args.output_shape;
    ReshapedDims(dims, &plan.y_dims);
  } else {
    plan.y_dims.pop_back();
    plan.y_dims.back() = CheckedMultiply(heads, values.size);
  }
  return plan;
}

class MultiHeadAttentionOp final : public Operator<CPUContext> {
 public:
  USE_OPERATOR_FUNCTIONS(CPUContext);

  MultiHeadAttentionOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws),
        arguments_(args()),
        scale_(ReadArgument(kAttentionScale)),
        nan_to_zero_(ReadArgument(kAttentionNanToZero)),
        bf16_(ReadArgument(kAttentionPrecision) == "bf16" && WhyNoBf16Products().empty()) {}

  bool RunOnDevice() override {
    const bool has_mask = InputSize() > 3;
    if (!IsPlanned()) Plan();
    AttentionTask task = plan_.task;
    task.scale = scale_;
    task.nan_to_zero = nan_to_zero_;
    task.bf16 = bf16_;
    task.q = Input(0).data<float>();
    task.k = Input(1).data<float>();
    task.v = Input(2).data<float>();
    task.mask = has_mask ? Input(3).data<float>() : nullptr;
    task.y = OutputData<float>(0, plan_.y_dims);
    const AttentionShape& shape = task.shape;
    const int64_t results = CheckedProduct(plan_.y_dims);
    if (results == 0) return true;
    if (shape.keys == 0) {  // the product with values without rows
      std::fill_n(task.y, results, 0.f);
      return true;
    }
    const int64_t count = items_.count;
    const int pieces = static_cast<int>(std::min<int64_t>(threads_, count));
    const PieceScratch scratch = scratch_.ForPieces(pieces, scratch_floats_);
    ParallelFor(pieces, [&](int piece) {
      ComputeAttention(task, items_, count * piece / pieces, count * (piece + 1) / pieces,
                       scratch[piece]);
    });
    return true;
  }

 private:
  bool IsPlanned() const {
    if (!planned_) return false;
    for (int i = 0; i < InputSize(); ++i) {
      if (Input(i).dims() != dims_[static_cast<size_t>(i)]) return false;
    }
    return true;
  }

  void Plan() {
    planned_ = false;
    dims_.clear();
    for (int i = 0; i < InputSize(); ++i) dims_.push_back(Input(i).dims());
    const IntArrayRef mask = InputSize() > 3 ? IntArrayRef(dims_[3]) : IntArrayRef();
    plan_ =
        PlanAttention(dims_[0], dims_[1], dims_[2], InputSize() > 3 ? &mask : nullptr, arguments_);
    const AttentionShape& shape = plan_.task.shape;
    const double work = static_cast<double>(shape.batch * shape.heads) *
                        static_cast<double>(shape.queries) * static_cast<double>(shape.keys) *
                        static_cast<double>(shape.size + shape.value_size);
    threads_ = work < kGemmWorthCutting ? 1 : GetNumThreads();
    items_ = DivideAttention(shape, threads_);
    scratch_floats_ = AttentionScratch(shape, bf16_);
    planned_ = true;
  }

  const AttentionArguments arguments_;
  const float scale_;
  const bool nan_to_zero_;
  const bool bf16_;
  bool planned_ = false;
  std::vector<std::vector<int64_t>> dims_;  // of the inputs when the plan was made
  AttentionPlan plan_;
  AttentionItems items_;
  int64_t scratch_floats_ = 0;
  int threads_ = 1;
  ThreadScratch scratch_;
};

AttentionPlan PlanOf(const OperatorDef& def, const std::vector<TensorShape>& in) {
  const std::vector<int64_t> mask = in.size() > 3 ? GetDimsVector(in[3]) : std::vector<int64_t>();
  const IntArrayRef mask_dims(mask);
  return PlanAttention(GetDimsVector(in[0]), GetDimsVector(in[1]), GetDimsVector(in[2]),
                       in.size() > 3 ? &mask_dims : nullptr,
                       AttentionArguments(ArgumentHelper(def)));
}

std::vector<TensorShape> InferAttention(const OperatorDef& def,
                                        const std::vector<TensorShape>& in) {
  if (!AreKnown(in, static_cast<size_t>(def.input_size()))) return UnknownOutputs(def);
  return {CreateTensorShape(PlanOf(def, in).y_dims, in[0].data_type())};
}

OpSchema::Cost AttentionCost(const OperatorDef& def, const std::vector<TensorShape>& in) {
  OpSchema::Cost cost;
  if (!AreKnown(in, static_cast<size_t>(def.input_size()))) return cost;
  const AttentionPlan plan = PlanOf(def, in);
  const AttentionShape& shape = plan.task.shape;
  const uint64_t scores = static_cast<uint64_t>(shape.batch) * static_cast<uint64_t>(shape.heads) *
                          static_cast<uint64_t>(shape.queries) * static_cast<uint64_t>(shape.keys);
  // Two products, and about ten operations for the softmax of a score.
  cost.flops = scores * (2 * static_cast<uint64_t>(shape.size + shape.value_size) + 10);
  for (const TensorShape& input : in) cost.bytes_read += NumElements(input) * sizeof(float);
  cost.bytes_written = static_cast<uint64_t>(CheckedProduct(plan.y_dims)) * sizeof(float);
  cost.bytes_moved = cost.bytes_read + cost.bytes_written;
  return cost;
}

}  // namespace

// No gradient: graph passes make this operator from operators that have one.
void RegisterMultiHeadAttention() {
  RegisterSchema("MultiHeadAttention", __FILE__)
      .NumInputs(3, 4)
      .NumOutputs(1)
      .SetDoc(
          "Attention: softmax(scale * Q K^T + mask) V, for each head. The columns of a head are "
          "adjacent in Q, K, V and Y. Batches and heads of 1 are broadcast. Graph passes make this "
          "operator "
          "from BatchMatMul, Softmax and the Reshape and Transpose operators around them.")
      .Args(kAttentionHeads, kAttentionScale, kAttentionNanToZero, kAttentionPrecision,
            kAttentionQueryShape, kAttentionKeyShape, kAttentionValueShape, kAttentionOutputShape,
            kAttentionEqualKeys, kAttentionEqualValues, kAttentionMaskRank)
      .Input(0, "Q", "queries, [B, T, H * D]")
      .Input(1, "K", "keys, [B, S, H * D]")
      .Input(2, "V", "values, [B, S, H * E]")
      .Input(3, "mask", "(optional) added to the scores; broadcast to [B, H, T, S]")
      .Output(0, "Y", "result, [B, T, H * E]")
      .TensorInferenceFunction(InferAttention)
      .CostInferenceFunction(AttentionCost);
  RegisterCpuOperator<MultiHeadAttentionOp>("MultiHeadAttention", __FILE__);
}

}  // namespace caffe2rt
