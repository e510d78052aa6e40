// HSoftmaxSearch: the most probable words and nodes of a hierarchical softmax, by beam search.
//   X float [M, *], W float [N, *], b float [N]
//   ->  Y_names string [M, topN], Y_scores float [M, topN]
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2rt/hsm.pb.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/inference.h"
#include "operators/loss/h_softmax.h"

namespace caffe2rt {
namespace {

constexpr ArgumentSpec<std::string> kSearchTree{
    "tree", "", "a serialized TreeProto (hsm.proto) whose nodes have names and offsets", {}, true};
constexpr ArgumentSpec<float> kSearchBeam{
    "beam", 0.01f,
    "entries of a node are followed if their scores exceed that of the node by less"};
constexpr ArgumentSpec<int> kSearchTopN{
    "topN", 5, "the number of results of a sample", {[](int n) { return n >= 0; }, "at least 0"}};
constexpr ArgumentSpec<std::string> kSearchHierarchy{"hierarchy", "",
                                                     "that of HSoftmax; has no effect"};

struct TreeNode {
  std::string name;
  int64_t offset, length;  // of the node's rows of the weights
  int64_t first_child;     // among the nodes; the children of a node follow each other
  std::vector<int32_t> words;

  int64_t children() const { return length - static_cast<int64_t>(words.size()); }
};

// The nodes in breadth-first order. THROWS if a node lacks a name, an offset or entries.
std::vector<TreeNode> NodesOf(const TreeProto& tree) {
  std::vector<TreeNode> nodes;
  std::vector<const NodeProto*> protos = {&tree.root_node()};
  for (size_t i = 0; i < protos.size(); ++i) {
    const NodeProto& proto = *protos[i];
    CAFFE_ENFORCE(proto.has_name() && proto.has_offset(), "node ", i,
                  " of argument tree, breadth first, has no ",
                  proto.has_name() ? "offset" : "name");
    const int64_t length = int64_t{proto.children_size()} + proto.word_ids_size();
    CAFFE_ENFORCE(proto.offset() >= 0 && length >= 1, "node \"", proto.name(),
                  "\" of argument tree has offset ", proto.offset(), ", ", proto.children_size(),
                  " children and ", proto.word_ids_size(),
                  " words, want an offset of at least 0, and an entry");
    nodes.push_back({proto.name(),
                     proto.offset(),
                     length,
                     static_cast<int64_t>(protos.size()),
                     {proto.word_ids().begin(), proto.word_ids().end()}});
    for (const NodeProto& child : proto.children()) protos.push_back(&child);
  }
  return nodes;
}

class HSoftmaxSearchOp final : public Operator<CPUContext> {
 public:
  HSoftmaxSearchOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws),
        nodes_(NodesOf(args().GetMessageArgument<TreeProto>(kSearchTree.name))),
        beam_(ReadArgument(kSearchBeam)),
        top_(ReadArgument(kSearchTopN)) {
    for (const TreeNode& node : nodes_) {
      rows_ = std::max(rows_, node.offset + node.length);
      longest_ = std::max(longest_, node.length);
    }
  }

  bool RunOnDevice() override {
    const HSoftmaxSizes sizes = CheckHSoftmaxInputs(Input(0), Input(1), Input(2));
    CAFFE_ENFORCE_LE(rows_, sizes.rows, "rows of input 1 (W) that argument tree needs");
    std::string* names = OutputData<std::string>(0, {sizes.samples, top_});
    float* scores = OutputData<float>(1, {sizes.samples, top_});
    logits_.resize(static_cast<size_t>(longest_));
    probabilities_.resize(static_cast<size_t>(longest_));
    const float* x = Input(0).data<float>();
    for (int64_t m = 0; m < sizes.samples; ++m, x += sizes.columns) {
      Search(x, sizes.columns);
      for (int64_t k = 0; k < top_; ++k, ++names, ++scores) {
        Write(static_cast<size_t>(k), names, scores);
      }
    }
    return true;
  }

 private:
  struct Found {
    float score;   // the negative logarithm of the probability
    int64_t node;  // or -1 for a word
    int32_t word;
  };

  // found_ = the entries within the beam, the first top_ of them in the order of their scores.
  // Equal ones are in the order in which Caffe2 leaves them, which sorts all but one.
  void Search(const float* x, int64_t columns) {
    found_.clear();
    Follow(0, 0, x, columns);
    if (found_.empty()) return;
    const auto sorted = std::min(static_cast<int64_t>(found_.size()) - 1, top_);
    std::partial_sort(found_.begin(), found_.begin() + sorted, found_.end(),
                      [](const Found& a, const Found& b) { return a.score < b.score; });
  }

  // Adds the entries of a node to found_, without those outside of the beam, and then those of its
  // children. Protobuf limits the depth of the tree.
  void Follow(int64_t index, float score, const float* x, int64_t columns) {
    const TreeNode& node = nodes_[static_cast<size_t>(index)];
    const size_t first = found_.size();
    ComputeNodeProbabilities(
        context_, node.length, columns, Input(1).data<float>() + node.offset * columns,
        Input(2).data<float>() + node.offset, x, logits_.data(), probabilities_.data());
    for (int64_t i = 0; i < node.length; ++i) {
      const float surprise =
          -std::log(std::max(probabilities_[static_cast<size_t>(i)], kLeastNodeProbability));
      if (!(surprise < beam_)) continue;  // NaN is outside
      const bool is_node = i < node.children();
      found_.push_back({score + surprise, is_node ? node.first_child + i : -1,
                        is_node ? 0 : node.words[static_cast<size_t>(i - node.children())]});
    }
    const size_t last = found_.size();
    for (size_t i = first; i < last; ++i) {
      if (found_[i].node >= 0) Follow(found_[i].node, found_[i].score, x, columns);
    }
  }

  // Result k, or an empty one.
  void Write(size_t k, std::string* name, float* score) const {
    if (k >= found_.size()) {
      name->clear();
      *score = 0;
      return;
    }
    const Found& found = found_[k];
    if (found.node >= 0) {
      *name = nodes_[static_cast<size_t>(found.node)].name;
    } else {
      *name = MakeString(found.word);
    }
    *score = found.score;
  }

  const std::vector<TreeNode> nodes_;
  const float beam_;
  const int64_t top_;
  int64_t rows_ = 0, longest_ = 0;
  std::vector<float> logits_, probabilities_;
  std::vector<Found> found_;
};

}  // namespace

void RegisterHSoftmaxSearch() {
  RegisterSchema("HSoftmaxSearch", __FILE__)
      .NumInputs(3)
      .NumOutputs(2)
      .Args(kSearchTree, kSearchBeam, kSearchTopN, kSearchHierarchy)
      .Input(0, "X", "[M, *] float: M samples; a vector is one sample")
      .Input(1, "W", "[N, *] float: a row of weights for each entry of each node")
      .Input(2, "b", "[N] float")
      .Output(0, "Y_names",
              "[M, topN] string: names of nodes and numbers of words; then empty ones")
      .Output(1, "Y_scores",
              "[M, topN] float: negative logarithms of the probabilities, the least first; then 0")
      .FloatInputs(3)
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        std::vector<TensorShape> out = {UnknownShapeOf(TensorProto::STRING),
                                        UnknownShapeOf(TensorProto::FLOAT)};
        if (!AreKnown(in, 1)) return out;
        const std::vector<int64_t> dims = {in[0].dims_size() < 2 ? 1 : in[0].dims(0),
                                           ArgumentHelper(def).Read(kSearchTopN)};
        out[0] = CreateTensorShape(dims, TensorProto::STRING);
        out[1] = CreateTensorShape(dims, TensorProto::FLOAT);
        return out;
      })
      .SetDoc(
          "Searches the tree of a hierarchical softmax for the most probable nodes and words. From "
          "the root, entries are followed whose probability within their node has a negative "
          "logarithm below beam.");
  RegisterCpuOperator<HSoftmaxSearchOp>("HSoftmaxSearch", __FILE__);
  // The results are names.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("HSoftmaxSearch", __FILE__);
}

}  // namespace caffe2rt
