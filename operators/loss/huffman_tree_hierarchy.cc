// HuffmanTreeHierarchy: the Huffman tree of the labels of a data set, for a hierarchical softmax.
//   Labels int64 [N]  ->  Hierarch string [1]: a serialized TreeProto (hsm.proto)
#include <algorithm>
#include <string>
#include <vector>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2rt/hsm.pb.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/element_type.h"

namespace caffe2rt {
namespace {

constexpr ArgumentSpec<int> kHuffmanClasses{
    "num_classes",
    -1,
    "the number of classes; a label is below it",
    {[](int classes) { return classes >= 1; }, "at least 1"},
    true};

// Trees of so many classes without labels are deeper than kMostLevels. The limit bounds the memory.
constexpr int64_t kMostAbsentClasses = 65536;
// Protobuf reads no messages that are nested deeper.
constexpr int kMostLevels = 100;

class HuffmanTreeHierarchyOp final : public Operator<CPUContext> {
 public:
  HuffmanTreeHierarchyOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), classes_(ReadArgument(kHuffmanClasses)) {}

  bool RunOnDevice() override {
    const Tensor& labels = Input(0);
    CAFFE_ENFORCE_EQ(labels.dim(), 1, "rank of input 0 (Labels) of shape ", labels.sizes());
    CAFFE_ENFORCE_LE(classes_ - labels.numel(), kMostAbsentClasses,
                     "classes of argument num_classes without labels");
    RequireElements<int64_t>(labels);
    CountLabels(labels.data<int64_t>(), labels.numel());
    MergeNodes();
    TreeProto tree;
    tree.mutable_root_node()->set_offset(0);
    if (classes_ > 1) (void)Write(nodes_.back(), 0, tree.mutable_root_node());
    CAFFE_ENFORCE(tree.SerializeToString(OutputData<std::string>(0, {1})), "a tree of ", classes_,
                  " classes exceeds the size of a message");
    return true;
  }

 private:
  struct Node {
    int64_t count;  // of labels
    size_t left = 0, right = 0;
    int levels = 0;  // of inner nodes: 0 for a class
  };

  // nodes_ = the classes.
  void CountLabels(const int64_t* labels, int64_t n) {
    nodes_.assign(static_cast<size_t>(classes_), Node{0});
    for (int64_t i = 0; i < n; ++i) {
      CAFFE_ENFORCE(labels[i] >= 0 && labels[i] < classes_, "element ", i,
                    " of input 0 (Labels) is ", labels[i], ", want 0 to below ", classes_);
      ++nodes_[static_cast<size_t>(labels[i])].count;
    }
  }

  // Replaces the two nodes with the least counts by one, until one is left, the last of nodes_. As
  // in Caffe2, the nodes are in a binary heap, which decides between equal counts.
  void MergeNodes() {
    const auto is_after = [this](size_t a, size_t b) { return nodes_[a].count > nodes_[b].count; };
    std::vector<size_t> heap;
    const auto push = [&](size_t node) {
      heap.push_back(node);
      std::push_heap(heap.begin(), heap.end(), is_after);
    };
    const auto pop = [&] {
      std::pop_heap(heap.begin(), heap.end(), is_after);
      const size_t node = heap.back();
      heap.pop_back();
      return node;
    };
    for (size_t i = 0; i < nodes_.size(); ++i) push(i);
    while (heap.size() > 1) {
      const size_t left = pop(), right = pop();
      const Node &a = nodes_[left], &b = nodes_[right];
      const Node merged{a.count + b.count, left, right, std::max(a.levels, b.levels) + 1};
      CAFFE_ENFORCE_LE(merged.levels, kMostLevels,
                       "levels of the tree, which many classes without labels make deep");
      nodes_.push_back(merged);
      push(nodes_.size() - 1);
    }
  }

  // Writes an inner node whose rows begin at `offset`. Returns the offset behind the rows of its
  // tree. As in Caffe2, a class on the right leaves out a row.
  int64_t Write(const Node& node, int64_t offset, NodeProto* proto) const {
    proto->set_offset(CheckedCast<int32_t>(offset, "offset of a node"));
    offset += 2;
    for (const size_t child : {node.left, node.right}) {
      if (nodes_[child].levels > 0) {
        offset = Write(nodes_[child], offset, proto->add_children());
      } else {
        proto->add_word_ids(static_cast<int32_t>(child));
        if (child == node.right) ++offset;
      }
    }
    return offset;
  }

  const int64_t classes_;
  std::vector<Node> nodes_;
};

}  // namespace

void RegisterHuffmanTreeHierarchy() {
  RegisterSchema("HuffmanTreeHierarchy", __FILE__)
      .NumInputs(1)
      .NumOutputs(1)
      .Arg(kHuffmanClasses)
      .Input(0, "Labels", "[N] int64: labels of a data set")
      .Output(0, "Hierarch", "[1] string: a serialized TreeProto (hsm.proto)")
      .TypesOfInput(0, {.accepted = {TensorProto::INT64}})
      .TensorInferenceFunction([](const OperatorDef&, const std::vector<TensorShape>&) {
        return std::vector<TensorShape>{
            CreateTensorShape(std::vector<int64_t>{1}, TensorProto::STRING)};
      })
      .SetDoc(
          "Makes the Huffman tree of classes by the numbers of their labels, so that frequent "
          "classes are near the root. Its nodes have offsets, but no names.");
  RegisterCpuOperator<HuffmanTreeHierarchyOp>("HuffmanTreeHierarchy", __FILE__);
}

}  // namespace caffe2rt
