// HSoftmax: the loss of a hierarchical softmax, and its gradient.
//   X float [M, *], W float [N, *], b float [N], labels int32, M elements
//   ->  Y float [M], intermediate_output float: for each sample and node of its path, logits, then
//       probabilities
// HSoftmaxGradient: X, W, b, labels, intermediate_output, dY float, M elements
//   ->  dX, dW, db, and the gradient of intermediate_output
#include "operators/loss/h_softmax.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2rt/hsm.pb.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/element_type.h"
#include "operators/common/inference.h"
#include "operators/common/softmax_rows.h"
#include "operators/primitives/gemm.h"

namespace caffe2rt {

HSoftmaxSizes CheckHSoftmaxInputs(const Tensor& X, const Tensor& W, const Tensor& b) {
  CAFFE_ENFORCE_GE(X.dim(), 1, "rank of input 0 (X)");
  const bool is_row = X.dim() == 1;
  const int64_t samples = is_row ? 1 : X.dim(0);
  const int64_t columns = is_row ? X.numel() : X.size_from_dim(1);
  CAFFE_ENFORCE_GE(W.dim(), 2, "rank of input 1 (W) of shape ", W.sizes());
  CAFFE_ENFORCE_EQ(W.size_from_dim(1), columns, "elements of a row of input 1 (W) of shape ",
                   W.sizes(), ", want those of a row of input 0 (X) of shape ", X.sizes());
  CAFFE_ENFORCE(b.dim() == 1 && b.dim(0) == W.dim(0), "input 2 (b) has shape ", b.sizes(),
                ", want [", W.dim(0), "], the rows of input 1 (W)");
  for (const Tensor* const tensor : {&X, &W, &b}) RequireElements<float>(*tensor);
  return {samples, columns, W.dim(0)};
}

void ComputeNodeProbabilities(CPUContext& context, int64_t length, int64_t columns, const float* w,
                              const float* b, const float* x, float* logits, float* probabilities) {
  Sgemv(length, columns, 1, w, columns, x, 0, logits);
  AddRowVector(1, length, b, logits);
  SoftmaxRows(context, 1, length, logits, probabilities);
}

namespace {

constexpr ArgumentSpec<std::string> kHierarchy{
    "hierarchy", "", "a serialized HierarchyProto (hsm.proto): the path of each class", {}, true};

// The paths of the classes.
class ClassPaths {
 public:
  struct Node {
    int64_t index, length, target;
  };

  // THROWS if the entries of a node are no rows, or its target is none of them.
  explicit ClassPaths(const HierarchyProto& hierarchy) {
    for (const PathProto& path : hierarchy.paths()) {
      Path& added = paths_.emplace_back(Path{.word = path.word_id(), .first = nodes_.size()});
      for (const PathNodeProto& node : path.path_nodes()) {
        CAFFE_ENFORCE(node.index() >= 0 && node.length() >= 1 && node.target() >= 0 &&
                          node.target() < node.length(),
                      "the path of word ", path.word_id(),
                      " in argument hierarchy has a node with index ", node.index(), ", length ",
                      node.length(), " and target ", node.target(),
                      ", want an index of at least 0 and a target from 0 to below the length");
        nodes_.push_back({node.index(), node.length(), node.target()});
        added.rows = std::max(added.rows, int64_t{node.index()} + node.length());
        added.elements = CheckedAdd(added.elements, 2 * int64_t{node.length()});
      }
      added.last = nodes_.size();
    }
    // Of several paths of a word, the first one counts.
    std::stable_sort(paths_.begin(), paths_.end(), IsBefore);
  }

  // Selects the path of each label. Returns the number of elements of their logits and
  // probabilities.
  // THROWS if a label has no path, or its path has a node beyond `rows` rows.
  int64_t Select(const int32_t* labels, int64_t count, int64_t rows) {
    selected_.resize(static_cast<size_t>(count));
    int64_t elements = 0;
    for (int64_t i = 0; i < count; ++i) {
      const auto path =
          std::lower_bound(paths_.begin(), paths_.end(), Path{.word = labels[i]}, IsBefore);
      CAFFE_ENFORCE(path != paths_.end() && path->word == labels[i], "element ", i,
                    " of input 3 (labels) is ", labels[i],
                    ", want a word of which argument hierarchy has a path");
      CAFFE_ENFORCE_LE(path->rows, rows, "rows of input 1 (W) that the path of word ", labels[i],
                       " in argument hierarchy needs");
      elements = CheckedAdd(elements, path->elements);
      selected_[static_cast<size_t>(i)] = &*path;
    }
    return elements;
  }

  // Calls act(node, offset) for the nodes of the selected path of a sample. `offset` is that of the
  // node's logits among those of all samples, and moves on.
  template <class Act>
  void ForEachNode(int64_t sample, int64_t* offset, const Act& act) const {
    const Path& path = *selected_[static_cast<size_t>(sample)];
    for (size_t k = path.first; k < path.last; ++k) {
      act(nodes_[k], *offset);
      *offset += 2 * nodes_[k].length;
    }
  }

 private:
  struct Path {
    int32_t word = 0;
    size_t first = 0, last = 0;  // in nodes_
    int64_t rows = 0;            // of the weights, that the nodes need
    int64_t elements = 0;        // of the logits and probabilities
  };
  static bool IsBefore(const Path& a, const Path& b) { return a.word < b.word; }

  std::vector<Node> nodes_;
  std::vector<Path> paths_;
  std::vector<const Path*> selected_;
};

// The inputs that the operator and its gradient operator have.
class HSoftmaxOpBase : public Operator<CPUContext> {
 public:
  HSoftmaxOpBase(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws),
        paths_(args().GetMessageArgument<HierarchyProto>(kHierarchy.name)) {}

 protected:
  HSoftmaxSizes CheckInputs() const {
    const HSoftmaxSizes sizes = CheckHSoftmaxInputs(Input(0), Input(1), Input(2));
    // As in Caffe2, further labels are ignored.
    CAFFE_ENFORCE_GE(Input(3).numel(), sizes.samples,
                     "elements of input 3 (labels), of which each row of input 0 (X) has one");
    RequireElements<int32_t>(Input(3));
    return sizes;
  }
  int64_t SelectPaths(const HSoftmaxSizes& sizes) {
    return paths_.Select(Input(3).data<int32_t>(), sizes.samples, sizes.rows);
  }

  ClassPaths paths_;
};

class HSoftmaxOp final : public HSoftmaxOpBase {
 public:
  using HSoftmaxOpBase::HSoftmaxOpBase;

  bool RunOnDevice() override {
    const HSoftmaxSizes sizes = CheckInputs();
    const int64_t elements = SelectPaths(sizes);
    float* const y = OutputData<float>(0, {sizes.samples});
    float* const states = OutputData<float>(1, {elements});
    const float* const x = Input(0).data<float>();
    const float* const w = Input(1).data<float>();
    const float* const b = Input(2).data<float>();
    int64_t offset = 0;
    for (int64_t m = 0; m < sizes.samples; ++m) {
      y[m] = 0;
      paths_.ForEachNode(m, &offset, [&](const ClassPaths::Node& node, int64_t at) {
        float* const p = states + at + node.length;
        ComputeNodeProbabilities(context_, node.length, sizes.columns,
                                 w + node.index * sizes.columns, b + node.index,
                                 x + m * sizes.columns, states + at, p);
        y[m] -= std::log(std::max(p[node.target], kLeastNodeProbability));
      });
    }
    return true;
  }
};

// y [n] += factor * x [n].
void AddScaled(int64_t n, float factor, const float* x, float* y) {
  for (int64_t i = 0; i < n; ++i) y[i] += factor * x[i];
}

class HSoftmaxGradientOp final : public HSoftmaxOpBase {
 public:
  using HSoftmaxOpBase::HSoftmaxOpBase;

  bool RunOnDevice() override {
    const HSoftmaxSizes sizes = CheckInputs();
    const Tensor& states = Input(4);
    const Tensor& dY = Input(5);
    CAFFE_ENFORCE_EQ(dY.numel(), sizes.samples,
                     "elements of input 5 (dY), want one for each row of input 0 (X)");
    RequireElements<float>(states);
    RequireElements<float>(dY);
    CAFFE_ENFORCE_EQ(
        states.numel(), SelectPaths(sizes),
        "elements of input 4 (intermediate_output), want those of HSoftmax for the labels");
    const float* const x = Input(0).data<float>();
    const float* const w = Input(1).data<float>();
    float* const dx = Zeros(0, Input(0));
    float* const dw = Zeros(1, Input(1));
    float* const db = Zeros(2, Input(2));
    float* const dstates = Zeros(3, states);
    int64_t offset = 0;
    for (int64_t m = 0; m < sizes.samples; ++m) {
      paths_.ForEachNode(m, &offset, [&](const ClassPaths::Node& node, int64_t at) {
        const float* const p = states.data<float>() + at + node.length;
        float* const dlogits = dstates + at;
        float* const dp = dlogits + node.length;
        dp[node.target] = -dY.data<float>()[m] / std::max(p[node.target], kLeastNodeProbability);
        SoftmaxRowsGradient(context_, 1, node.length, p, dp, dlogits);
        const int64_t sample = m * sizes.columns;
        sum_.assign(static_cast<size_t>(sizes.columns), 0);
        for (int64_t i = 0; i < node.length; ++i) {
          const int64_t row = (node.index + i) * sizes.columns;
          AddScaled(sizes.columns, dlogits[i], w + row, sum_.data());
          AddScaled(sizes.columns, dlogits[i], x + sample, dw + row);
          db[node.index + i] += dlogits[i];
        }
        AddScaled(sizes.columns, 1, sum_.data(), dx + sample);
      });
    }
    return true;
  }

 private:
  float* Zeros(int output, const Tensor& input) {
    float* const zeros = OutputData<float>(output, input.sizes());
    std::fill_n(zeros, input.numel(), 0.0f);
    return zeros;
  }

  std::vector<float> sum_;  // the gradient of a row of X that comes from a node
};

// As in Caffe2, the maker wants a gradient of intermediate_output. It is not read but overwritten.
class GetHSoftmaxGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    return SingleGradientDef("HSoftmaxGradient", "", {I(0), I(1), I(2), I(3), O(1), GO(0)},
                             {GI(0), GI(1), GI(2), GO(1)});
  }
};

OpSchema& HSoftmaxSchema(const char* type) {
  return RegisterSchema(type, __FILE__)
      .Arg(kHierarchy)
      .Input(0, "X", "[M, *] float: M samples; a vector is one sample")
      .Input(1, "W", "[N, *] float: a row of weights for each entry of each node")
      .Input(2, "b", "[N] float")
      .Input(3, "labels", "int32, M elements or more: the word of each sample")
      .FloatInputs(3)
      .TypesOfInput(3, {.accepted = {TensorProto::INT32}});
}

}  // namespace

void RegisterHSoftmax() {
  HSoftmaxSchema("HSoftmax")
      .NumInputs(4)
      .NumOutputs(2)
      .Output(0, "Y", "[M] float: the loss of each sample")
      .Output(
          1, "intermediate_output",
          "float vector, for the gradient: for each sample and node of the path of its word, the "
          "logits of the node's entries and then their probabilities")
      .TensorInferenceFunction([](const OperatorDef&, const std::vector<TensorShape>& in) {
        std::vector<TensorShape> out(2, UnknownShapeOf(TensorProto::FLOAT));
        if (!AreKnown(in, 1)) return out;
        const int64_t samples = in[0].dims_size() < 2 ? 1 : in[0].dims(0);
        out[0] = CreateTensorShape(std::vector<int64_t>{samples}, TensorProto::FLOAT);
        return out;
      })
      .SetDoc(
          "Hierarchical softmax: the probability of a word is the product of the probabilities, on "
          "its path through a tree, of the entries that the path takes. The loss is the negative "
          "logarithm of it, with probabilities of an entry below 1e-20 taken for 1e-20. The "
          "gradient maker wants a gradient of intermediate_output, as in Caffe2, which is "
          "overwritten.");
  RegisterCpuOperator<HSoftmaxOp>("HSoftmax", __FILE__);
  RegisterGradient<GetHSoftmaxGradient>("HSoftmax", __FILE__);

  HSoftmaxSchema("HSoftmaxGradient")
      .NumInputs(6)
      .NumOutputs(4)
      .Input(4, "intermediate_output", "float: output 1 of HSoftmax")
      .Input(5, "dY", "float, M elements: the gradient of the loss")
      .Output(0, "dX", "the shape of X")
      .Output(1, "dW", "the shape of W")
      .Output(2, "db", "the shape of b")
      .Output(3, "dintermediate_output", "the shape of intermediate_output")
      .TypesOfInput(4, {.accepted = {TensorProto::FLOAT}})
      .TypesOfInput(5, {.accepted = {TensorProto::FLOAT}})
      .TensorInferenceFunction([](const OperatorDef&, const std::vector<TensorShape>& in) {
        std::vector<TensorShape> out;
        for (const size_t i : {0, 1, 2, 4}) {
          out.push_back(i < in.size() && IsKnown(in[i])
                            ? CreateTensorShape(GetDimsVector(in[i]), TensorProto::FLOAT)
                            : UnknownShapeOf(TensorProto::FLOAT));
        }
        return out;
      })
      .SetDoc("Computes the gradients of the inputs and of output 1 of HSoftmax.");
  RegisterCpuOperator<HSoftmaxGradientOp>("HSoftmaxGradient", __FILE__);
}

}  // namespace caffe2rt
