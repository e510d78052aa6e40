// SparseAdagradFusedWithSparseLengths{Sum,WeightedSum,Mean}Gradient and
// RowWiseSparseAdagradFusedWithSparseLengths{Sum,WeightedSum,Mean}Gradient, and the same types with
// the ending Approx: the gradient of SparseLengthsSum, ...WeightedSum or ...Mean and the update of
// the rows by AdaGrad (adagrad.h) in one operator, without the gradients of the rows in between.
//   param [rows, row..], moment as SparseAdagrad or RowWiseSparseAdagrad, (aux_param,) indices [n],
//   grad [segments, row..], lr [1], lengths int32 [segments]  ->  param, moment (, aux_grad [n])
//
// Segment s has lengths[s] indices. The gradient of the row of each of them is grad[s], for Mean
// divided by lengths[s], for WeightedSum times the weight aux_param[k], where k is the position in
// the segment. aux_grad is the gradient of the weights: for each index, the scalar product of
// grad[s] and the row. That is the row before all updates, with Approx the row before its own
// update.
#include <string>
#include <type_traits>
#include <vector>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/element_type.h"
#include "operators/common/segment_offsets.h"
#include "operators/optimizer/adagrad.h"

namespace caffe2rt {
namespace {

constexpr ArgumentSpec<int> kFusedRounding{
    "round_option", 0, "for compatibility: has no effect, because the parameters are float"};

enum class Lengths { kSum, kWeightedSum, kMean };

// As in Caffe2, one of the types does not read the argument.
constexpr bool HasDecay(bool row_wise, Lengths kind, bool approximate) {
  return !row_wise || kind != Lengths::kWeightedSum || approximate;
}

// The scalar product of a slice and a row.
struct SliceTimesRow {
  const float* slice;
  const float* row;
  CAFFE2RT_SIMD_INLINE float operator()(int64_t k) const { return slice[k] * row[k]; }
};

// The segments, their weights, and the gradients of these.
template <class Index>
struct Segments {
  RowSizes sizes;
  const Index* indices;
  int64_t count;
  const int64_t* offsets;
  const float* grad;
  const float* weights;  // null: all are 1
  bool mean;

  CAFFE2RT_SIMD_INLINE float WeightGradient(const float* param, int64_t s, int64_t j) const {
    return SumOfTerms(sizes.block,
                      SliceTimesRow{grad + s * sizes.block, param + indices[j] * sizes.block});
  }
};

template <class Index>
struct WeightGradients {
  Segments<Index> all;
  const float* param;
  float* gradients;
  CAFFE2RT_SIMD_INLINE void operator()(int64_t first, int64_t last) const {
    for (int64_t s = first; s < last; ++s) {
      for (int64_t j = all.offsets[s]; j < all.offsets[s + 1]; ++j)
        gradients[j] = all.WeightGradient(param, s, j);
    }
  }
};

// Updates the rows whose index leaves the remainder `piece` when divided by `pieces`.
template <class Rule, class Index>
struct UpdateSegments {
  Segments<Index> all;
  Rule rule;
  float* gradients;  // of the weights, just before the updates; may be null
  float* scratch;    // a row for each piece

  CAFFE2RT_SIMD_INLINE void operator()(int64_t piece, int64_t pieces) const {
    Rule r = rule;
    const int64_t block = all.sizes.block;
    const float rate = r.Rate();
    float* const scaled = scratch + piece * block;
    for (int64_t s = 0; s < all.count; ++s) {
      const int64_t first = all.offsets[s], last = all.offsets[s + 1];
      const float* const slice = all.grad + s * block;
      r.grad = slice;
      if (all.mean && last - first > 1) {
        const float factor = 1.0f / static_cast<float>(last - first);
        CAFFE2RT_SIMD_LOOP
        for (int64_t k = 0; k < block; ++k) scaled[k] = slice[k] * factor;
        r.grad = scaled;
      }
      for (int64_t j = first; j < last; ++j) {
        const int64_t row = all.indices[j];
        if (pieces > 1 && row % pieces != piece) continue;
        if (gradients != nullptr) gradients[j] = all.WeightGradient(r.param, s, j);
        if (all.weights != nullptr) {
          const float factor = all.weights[j - first];
          CAFFE2RT_SIMD_LOOP
          for (int64_t k = 0; k < block; ++k) scaled[k] = slice[k] * factor;
          r.grad = scaled;
        }
        internal::UpdateRow(r, row, block, 0, rate);
      }
    }
  }
};

template <bool kRowWise>
class FusedSparseAdagradOp : public Operator<CPUContext> {
 public:
  FusedSparseAdagradOp(const OperatorDef& def, Workspace* ws, Lengths kind, bool approximate)
      : Operator<CPUContext>(def, ws),
        weighted_(kind == Lengths::kWeightedSum),
        mean_(kind == Lengths::kMean),
        approximate_(approximate),
        epsilon_(ReadArgument(kAdagradEpsilon)),
        weight_decay_(ReadArgument(kAdagradWeightDecay)) {
    if (HasDecay(kRowWise, kind, approximate))
      (void)ReadArgument(kSparseAdagradDecay);  // THROWS unless it is 1
  }

  bool RunOnDevice() override {
    return DispatchByType<int32_t, int64_t>(
        Input(indices_).dtype(), weighted_ ? "input 3 (indices)" : "input 2 (indices)",
        [&](auto element) { return RunWith<decltype(element)>(); });
  }

 private:
  // Makes the checks of sizes and types.
  RowSizes Check() {
    const Tensor& param = Input(0);
    const Tensor& moment = Input(1);
    const Tensor& grad = Input(indices_ + 1);
    const Tensor& lengths = Input(indices_ + 3);
    CAFFE_ENFORCE_GE(param.dim(), 1, "rank of input 0 (param)");
    CAFFE_ENFORCE_EQ(lengths.dim(), 1, "rank of the last input (lengths)");
    const RowSizes sizes{param.dim(0), param.size_from_dim(1), Input(indices_).numel()};
    CAFFE_ENFORCE(
        grad.dim() >= 1 && grad.dim(0) == lengths.dim(0) && grad.size_from_dim(1) == sizes.block,
        "input ", indices_ + 1, " (grad) has shape ", grad.sizes(), ", want ", lengths.dim(0),
        " slices, one for each of the lengths, of ", sizes.block,
        " elements, as a row of input 0 (param) of shape ", param.sizes());
    if constexpr (kRowWise) {
      CAFFE_ENFORCE_EQ(moment.numel(), sizes.rows, "elements of input 1 (moment) of shape ",
                       moment.sizes(), ", want one for each row of input 0 (param) of shape ",
                       param.sizes());
    } else {
      RequireSameSize({moment, "input 1 (moment)"}, {param, "input 0 (param)"});
    }
    for (int i = 0; i < InputSize(); ++i) {
      if (i == InputSize() - 1) {
        RequireElements<int32_t>(Input(i));
      } else if (i != indices_) {
        RequireElements<float>(Input(i));
      }
    }
    const NamedInput rate{Input(indices_ + 2), "the input lr"};
    kRowWise ? OneNumber(rate) : FirstNumber(rate);
    return sizes;
  }

  template <class Index>
  bool RunWith() {
    const RowSizes sizes = Check();
    segments_.Read<int32_t>(*this, indices_ + 3, "the last input (lengths)");
    CAFFE_ENFORCE_EQ(segments_.total(), sizes.count,
                     "sum of the last input (lengths), want one for each "
                     "index");
    if (weighted_) {
      CAFFE_ENFORCE_GE(Input(2).numel(), segments_.longest(),
                       "elements of input 2 (aux_param), want one for each position in the longest "
                       "segment");
    }
    const Index* const indices = Input(indices_).template data<Index>();
    RequireRows(sizes, indices);
    const Segments<Index> all{.sizes = sizes,
                              .indices = indices,
                              .count = segments_.count(),
                              .offsets = segments_.OnHost(),
                              .grad = Input(indices_ + 1).template data<float>(),
                              .weights = weighted_ ? Input(2).template data<float>() : nullptr,
                              .mean = mean_};
    const float* const rate = Input(indices_ + 2).template data<float>();
    const float* const param = Input(0).template data<float>();
    const float* const moment = Input(1).template data<float>();
    float* const out_param = OutputData<float>(0, Input(0).sizes());
    float* const out_moment = OutputData<float>(1, Input(1).sizes());
    float* const gradients = weighted_ ? OutputData<float>(2, {sizes.count}) : nullptr;
    if constexpr (kRowWise) {
      Run(all, gradients,
          RowWiseAdagradRule{.rate = rate,
                             .param = param,
                             .moment = moment,
                             .grad = all.grad,
                             .out_param = out_param,
                             .out_moment = out_moment,
                             .epsilon = epsilon_,
                             .weight_decay = weight_decay_});
    } else {
      Run(all, gradients,
          AdagradRule{.rate = rate,
                      .param = param,
                      .moment = moment,
                      .grad = all.grad,
                      .out_param = out_param,
                      .out_moment = out_moment,
                      .out_effective = nullptr,
                      .out_update = nullptr,
                      .epsilon = epsilon_,
                      .decay = 1.0f,
                      .weight_decay = weight_decay_});
    }
    return true;
  }

  template <class Rule, class Index>
  void Run(const Segments<Index>& all, float* gradients, const Rule& rule) {
    if (all.sizes.count == 0) return;
    const int64_t block = all.sizes.block;
    const int64_t pieces = internal::UpdatePieces(all.sizes.count * block);
    if (gradients != nullptr && (!approximate_ || block == 0)) {
      const WeightGradients<Index> weights{all, rule.param, gradients};
      ParallelFor(static_cast<int>(pieces), [&](int piece) {
        RunSimd(weights, all.count * piece / pieces, all.count * (piece + 1) / pieces);
      });
    }
    if (block == 0) return;
    if (mean_ || weighted_) scratch_.resize(static_cast<size_t>(CheckedMultiply(pieces, block)));
    const UpdateSegments<Rule, Index> update{all, rule, approximate_ ? gradients : nullptr,
                                             scratch_.data()};
    ParallelFor(static_cast<int>(pieces),
                [&](int piece) { RunSimd(update, int64_t{piece}, pieces); });
  }

  const bool weighted_, mean_, approximate_;
  const int indices_ = weighted_ ? 3 : 2;  // that input; grad, lr and lengths follow
  const float epsilon_, weight_decay_;
  SegmentOffsets<CPUContext> segments_;
  std::vector<float> scratch_;
};

template <bool kRowWise, Lengths kKind, bool kApproximate>
class FusedOp final : public FusedSparseAdagradOp<kRowWise> {
 public:
  FusedOp(const OperatorDef& def, Workspace* ws)
      : FusedSparseAdagradOp<kRowWise>(def, ws, kKind, kApproximate) {}
};

// The gradients of the weights are a vector, also if the indices are none.
OpSchema::TensorInference InferFused() {
  return [](const OperatorDef& def, const std::vector<TensorShape>& in) {
    std::vector<TensorShape> out = UnknownOutputs(def);
    for (size_t k = 0; k < 2 && k < out.size() && k < in.size(); ++k) {
      if (IsKnown(in[k])) out[k] = in[k];
    }
    if (out.size() > 2) out[2] = UnknownShapeOf(TensorProto::FLOAT);
    if (out.size() > 2 && in.size() > 3 && IsKnown(in[3])) {
      out[2] = CreateTensorShape(std::vector<int64_t>{static_cast<int64_t>(NumElements(in[3]))},
                                 TensorProto::FLOAT);
    }
    return out;
  };
}

template <bool kRowWise, Lengths kKind, bool kApproximate>
void RegisterFused() {
  constexpr bool kWeighted = kKind == Lengths::kWeightedSum;
  const std::string sum = kKind == Lengths::kSum ? "Sum" : kWeighted ? "WeightedSum" : "Mean";
  const std::string update = kRowWise ? "RowWiseSparseAdagrad" : "SparseAdagrad";
  const std::string type =
      update + "FusedWithSparseLengths" + sum + "Gradient" + (kApproximate ? "Approx" : "");
  OpSchema& schema = RegisterSchema(type, __FILE__);
  schema.NumInputs(kWeighted ? 7 : 6)
      .NumOutputs(kWeighted ? 3 : 2)
      .EnforceInplace({{0, 0}, {1, 1}})
      .Args(kAdagradEpsilon, kAdagradWeightDecay)
      .Input(0, "param", "[rows, row..], float")
      .Input(1, "moment", kRowWise ? "one element for each row" : "as many elements as param")
      .Output(0, "output_param", "input 0")
      .Output(1, "output_moment", "input 1")
      .TensorInferenceFunction(InferFused())
      .SetDoc("The gradient of SparseLengths" + sum + ", and " + update +
              " with the gradients of the rows, in one operator." +
              (kWeighted && kApproximate
                   ? " The gradient of a weight uses the row just before its update."
                   : ""));
  if (HasDecay(kRowWise, kKind, kApproximate)) schema.Arg(kSparseAdagradDecay);
  if (kRowWise && (kKind == Lengths::kSum || (kKind == Lengths::kMean && kApproximate)))
    schema.Arg(kFusedRounding);
  constexpr int kIndices = kWeighted ? 3 : 2;
  if (kWeighted) {
    schema.Input(2, "aux_param", "float: the weights of the positions in a segment")
        .Output(2, "aux_grad", "for each index, the gradient of its weight, float");
  }
  schema.Input(kIndices, "indices", "the rows, int32 or int64")
      .Input(kIndices + 1, "grad", "the gradient of the sums: [segments, row..], float")
      .Input(kIndices + 2, "lr", "the learning rate: one element")
      .Input(kIndices + 3, "lengths", "[segments] int32: how many of the indices a segment has")
      .TypesOfInput(kIndices, {.accepted = {TensorProto::INT32, TensorProto::INT64}})
      .TypesOfInput(kIndices + 3, {.accepted = {TensorProto::INT32}});
  RegisterCpuOperator<FusedOp<kRowWise, kKind, kApproximate>>(type, __FILE__);
  // An optimizer is not part of the function that is differentiated.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>(type, __FILE__);
}

template <bool kRowWise, bool kApproximate>
void RegisterFusedSums() {
  RegisterFused<kRowWise, Lengths::kSum, kApproximate>();
  RegisterFused<kRowWise, Lengths::kWeightedSum, kApproximate>();
  RegisterFused<kRowWise, Lengths::kMean, kApproximate>();
}

}  // namespace

void RegisterAdagradFused() {
  RegisterFusedSums<false, false>();
  RegisterFusedSums<false, true>();
  RegisterFusedSums<true, false>();
  RegisterFusedSums<true, true>();
}

}  // namespace caffe2rt
