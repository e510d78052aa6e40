// CTCBeamSearchDecoder: the most probable sequences of labels, found by a search that keeps the
// best prefixes at each step.
//   INPUTS float [T, N, C], optional SEQ_LEN int32 [N]
//   ->  OUTPUT_LEN int32 [N * num_candidates], VALUES int32 [sum of OUTPUT_LEN],
//       optional OUTPUT_PROB float [N * num_candidates]
#include <algorithm>
#include <array>
#include <vector>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/inference.h"
#include "operators/sequence/ctc_scores.h"

namespace caffe2rt {
namespace {

constexpr ArgumentSpec<int> kCtcBeamWidth{"beam_width",
                                          10,
                                          "the number of prefixes that are kept after each step",
                                          {[](int width) { return width >= 1; }, "at least 1"}};
constexpr ArgumentSpec<int> kCtcNumCandidates{"num_candidates",
                                              1,
                                              "the number of results for each sequence",
                                              {[](int count) { return count >= 0; }, "at least 0"}};
constexpr ArgumentSpec<float> kCtcPruneThreshold{
    "prune_threshold", 0.001f,
    "classes that are not more probable than this are left out at a step, unless all are"};

// The prefixes of one sequence as a tree: a node is the prefix of its parent and one more label.
// Each node has the probabilities of the paths that end with a blank and of those that end with its
// label, for the last two steps.
class CtcPrefixTree {
 public:
  struct Probability {
    float blank = 0;
    float label = 0;
    float sum() const { return blank + label; }
  };

  void Start(int64_t classes) {
    nodes_.clear();
    nodes_.emplace_back();
    nodes_[0].at[0] = {.step = 0, .value = {.blank = 1}};
    beam_.assign(1, 0);
    candidates_.clear();
    child_of_label_.assign(static_cast<size_t>(classes), -1);
  }

  // Extends the kept prefixes by step `step`, counted from 1, and keeps the best `width` results.
  // `labels` are the classes that are not left out.
  void Extend(int64_t step, const float* p, const std::vector<int32_t>& labels, size_t width,
              size_t best) {
    candidates_.clear();
    for (const int32_t prefix : beam_) ExtendPrefix(step, p, labels, prefix);
    Rank(step, std::max(width, best));
    for (const int32_t node : beam_) nodes_[static_cast<size_t>(node)].kept = false;
    beam_.assign(candidates_.begin(), candidates_.begin() + static_cast<std::ptrdiff_t>(std::min(
                                                                width, candidates_.size())));
    for (const int32_t node : beam_) nodes_[static_cast<size_t>(node)].kept = true;
  }

  // The prefixes that the last step reached, the best ones first.
  const std::vector<int32_t>& candidates() const { return candidates_; }
  // What the prefix had at a step, one of the last two.
  Probability Get(int32_t node, int64_t step) const {
    const AtStep& at = nodes_[static_cast<size_t>(node)].at[static_cast<size_t>(step & 1)];
    return at.step == step ? at.value : Probability{};
  }
  // Appends the labels of the prefix.
  int32_t Append(int32_t node, std::vector<int32_t>* values) const {
    const size_t begin = values->size();
    for (; node > 0; node = nodes_[static_cast<size_t>(node)].parent) {
      values->push_back(nodes_[static_cast<size_t>(node)].label);
    }
    std::reverse(values->begin() + static_cast<std::ptrdiff_t>(begin), values->end());
    return static_cast<int32_t>(values->size() - begin);
  }

 private:
  struct AtStep {
    int64_t step = -1;
    Probability value;
  };
  struct Node {
    int32_t parent = -1;
    int32_t label = 0;  // no label of the root is 0, so no extension repeats it
    int32_t first_child = -1, next_sibling = -1;
    bool kept = false;
    std::array<AtStep, 2> at = {};
  };
  // A bound on the memory: 56 bytes for each prefix.
  static constexpr size_t kMostPrefixes = size_t{1} << 26;

  // The probabilities of the node at `step`. A node that is new at the step becomes a candidate.
  Probability& Reach(int32_t node, int64_t step) {
    AtStep& at = nodes_[static_cast<size_t>(node)].at[static_cast<size_t>(step & 1)];
    if (at.step != step) {
      at = {.step = step, .value = {}};
      candidates_.push_back(node);
    }
    return at.value;
  }

  int32_t Child(int32_t parent, int32_t label) {
    int32_t& child = child_of_label_[static_cast<size_t>(label)];
    if (child >= 0) return child;
    CAFFE_ENFORCE_LT(nodes_.size(), kMostPrefixes,
                     "prefixes of one sequence; a smaller beam_width or a greater prune_threshold "
                     "needs fewer");
    child = static_cast<int32_t>(nodes_.size());
    Node& above = nodes_[static_cast<size_t>(parent)];
    const Node node{.parent = parent, .label = label, .next_sibling = above.first_child};
    above.first_child = child;
    nodes_.push_back(node);
    return child;
  }

  void ExtendPrefix(int64_t step, const float* p, const std::vector<int32_t>& labels,
                    int32_t prefix) {
    std::fill(child_of_label_.begin(), child_of_label_.end(), -1);
    for (int32_t i = nodes_[static_cast<size_t>(prefix)].first_child; i >= 0;
         i = nodes_[static_cast<size_t>(i)].next_sibling) {
      child_of_label_[static_cast<size_t>(nodes_[static_cast<size_t>(i)].label)] = i;
    }
    const Probability before = Get(prefix, step - 1);
    const int32_t last = nodes_[static_cast<size_t>(prefix)].label;
    for (const int32_t label : labels) {
      const float here = p[label];
      if (label == 0) {
        Reach(prefix, step).blank += here * before.sum();
        continue;
      }
      const int32_t child = Child(prefix, label);
      // A repeated label is a new one only after a blank.
      Reach(child, step).label += here * (label == last ? before.blank : before.sum());
      if (label == last) Reach(prefix, step).label += here * before.label;
      // A prefix that was dropped comes back with what its paths had.
      if (nodes_[static_cast<size_t>(child)].kept) continue;
      const Probability earlier = Get(child, step - 1);
      Probability& reached = Reach(child, step);
      reached.blank += p[0] * earlier.sum();
      reached.label += here * earlier.label;
    }
  }

  // Puts the best `count` candidates first. Equal ones are in the order of their labels.
  void Rank(int64_t step, size_t count) {
    const auto middle =
        candidates_.begin() + static_cast<std::ptrdiff_t>(std::min(count, candidates_.size()));
    std::partial_sort(candidates_.begin(), middle, candidates_.end(), [&](int32_t a, int32_t b) {
      const float of_a = Get(a, step).sum(), of_b = Get(b, step).sum();
      return of_a != of_b ? of_a > of_b : HasLessLabels(a, b);
    });
  }
  bool HasLessLabels(int32_t a, int32_t b) {
    labels_a_.clear();
    labels_b_.clear();
    (void)Append(a, &labels_a_);
    (void)Append(b, &labels_b_);
    return labels_a_ < labels_b_;
  }

  std::vector<Node> nodes_;
  std::vector<int32_t> beam_, candidates_, child_of_label_, labels_a_, labels_b_;
};

class CTCBeamSearchDecoderOp final : public Operator<CPUContext> {
 public:
  CTCBeamSearchDecoderOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws),
        beam_width_(static_cast<size_t>(ReadArgument(kCtcBeamWidth))),
        num_candidates_(ReadArgument(kCtcNumCandidates)),
        prune_threshold_(ReadArgument(kCtcPruneThreshold)) {}

  bool RunOnDevice() override {
    const CtcScores scores(*this);
    const int64_t results = CheckedMultiply<int64_t>(scores.sequences(), num_candidates_);
    int32_t* length = OutputData<int32_t>(0, {results});
    float* probability = OutputSize() > 2 ? OutputData<float>(2, {results}) : nullptr;
    std::fill_n(length, results, 0);
    if (probability != nullptr) std::fill_n(probability, results, 0.0f);
    values_.clear();
    for (int64_t n = 0; n < scores.sequences(); ++n) {
      Search(scores, n);
      const auto found =
          std::min<int64_t>(num_candidates_, static_cast<int64_t>(tree_.candidates().size()));
      for (int64_t i = 0; i < found; ++i) {
        const int32_t node = tree_.candidates()[static_cast<size_t>(i)];
        length[i] = tree_.Append(node, &values_);
        if (probability != nullptr) probability[i] = tree_.Get(node, scores.steps(n)).sum();
      }
      length += num_candidates_;
      if (probability != nullptr) probability += num_candidates_;
    }
    std::copy(values_.begin(), values_.end(),
              OutputData<int32_t>(1, {static_cast<int64_t>(values_.size())}));
    return true;
  }

 private:
  void Search(const CtcScores& scores, int64_t n) {
    tree_.Start(scores.classes());
    for (int64_t t = 0; t < scores.steps(n); ++t) {
      const float* const p = scores.At(t, n);
      labels_.clear();
      for (int32_t c = 0; c < scores.classes(); ++c) {
        if (p[c] > prune_threshold_) labels_.push_back(c);
      }
      if (labels_.empty()) {
        for (int32_t c = 0; c < scores.classes(); ++c) labels_.push_back(c);
      }
      tree_.Extend(t + 1, p, labels_, beam_width_, static_cast<size_t>(num_candidates_));
    }
  }

  const size_t beam_width_;
  const int64_t num_candidates_;
  const float prune_threshold_;
  CtcPrefixTree tree_;
  std::vector<int32_t> labels_, values_;
};

}  // namespace

void RegisterCtcBeamSearchDecoder() {
  RegisterSchema("CTCBeamSearchDecoder", __FILE__)
      .NumInputs(1, 2)
      .NumOutputs(2, 3)
      .Args(kCtcBeamWidth, kCtcNumCandidates, kCtcPruneThreshold)
      .Input(0, "INPUTS",
             "[T, N, C] float: probabilities of C classes at T steps; class 0 is the blank")
      .Input(1, "SEQ_LEN", "[N] int32: the steps of each sequence (optional; default: T)")
      .Output(0, "OUTPUT_LEN", "[N * num_candidates] int32: the number of labels of each result")
      .Output(1, "VALUES", "int32: the labels of all results, one after the other")
      .Output(2, "OUTPUT_PROB",
              "[N * num_candidates] float: the probabilities of the results (optional)")
      .TypesOfInput(0, {.accepted = {TensorProto::FLOAT}})
      .TypesOfInput(1, {.accepted = {TensorProto::INT32}})
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        std::vector<TensorShape> out(static_cast<size_t>(def.output_size()),
                                     UnknownShapeOf(TensorProto::INT32));
        if (out.size() > 2) out[2].set_data_type(TensorProto::FLOAT);
        if (in.empty() || !IsKnown(in[0]) || in[0].dims_size() != 3) return out;
        const std::vector<int64_t> dims = {
            CheckedMultiply<int64_t>(in[0].dims(1), ArgumentHelper(def).Read(kCtcNumCandidates))};
        for (size_t i = 0; i < out.size(); i += 2) {
          out[i] = CreateTensorShape(dims, out[i].data_type());
        }
        return out;
      })
      .SetDoc(
          "Decodes sequences of connectionist temporal classification by a beam search over "
          "prefixes of labels (Hannun et al., First-Pass Large Vocabulary Continuous Speech "
          "Recognition using Bi-Directional Recurrent DNNs, without a language model). The results "
          "of a sequence are in descending order of their probabilities; missing ones have length "
          "and probability 0.");
  RegisterCpuOperator<CTCBeamSearchDecoderOp>("CTCBeamSearchDecoder", __FILE__);
  // Labels are no differentiable function of the probabilities.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("CTCBeamSearchDecoder", __FILE__);
}

}  // namespace caffe2rt
