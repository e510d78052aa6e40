// TfIdfVectorizer: ONNX's operator (opset 9) for integers: how often known n-grams occur.
//   X int32 or int64 [C] or [N, C]  ->  Y float [columns] or [N, columns]
//
// An n-gram is n elements of X that are 1 to max_skip_count + 1 places apart, n from min_gram_length to
// max_gram_length. pool_int64s lists the known ones: first those of one element, then those of two, ...;
// ngram_counts says where each length begins, ngram_indexes to which column each n-gram belongs.

#include <algorithm>
#include <map>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/inference.h"
#include "operators/common/integer_input.h"

namespace caffe2rt {

namespace {

constexpr ArgumentCheck<int64_t> kGramLength{
    [](int64_t length) { return length >= 1 && length <= 1024; }, "1 to 1024"};
constexpr ArgumentSpec<int64_t> kGramLeast{"min_gram_length", 1, "elements of the shortest n-grams",
                                           kGramLength};
constexpr ArgumentSpec<int64_t> kGramMost{"max_gram_length", 1, "elements of the longest n-grams",
                                          kGramLength};
constexpr ArgumentSpec<int64_t> kGramSkips{
    "max_skip_count",
    0,
    "elements that are skipped at most between two of an n-gram",
    {[](int64_t skips) { return skips >= 0; }, "at least 0"}};
constexpr ArgumentSpec<std::string> kGramMode{
    "mode",
    "TF",
    "TF (counts), IDF (the weight of what occurs) or TFIDF (the product)",
    {[](const std::string& mode) { return mode == "TF" || mode == "IDF" || mode == "TFIDF"; },
     "TF, IDF or TFIDF"}};
constexpr RepeatedArgumentSpec<int64_t> kGramCounts{
    "ngram_counts", "where the n-grams of 1, 2, ... elements begin in pool_int64s"};
constexpr RepeatedArgumentSpec<int64_t> kGramColumns{"ngram_indexes", "the column of each n-gram"};
constexpr RepeatedArgumentSpec<int64_t> kGramPool{"pool_int64s", "the elements of all n-grams"};
constexpr RepeatedArgumentSpec<float> kGramWeights{"weights", "weight of each n-gram; default: 1"};

// The known n-grams and their places in the lists.
struct KnownGrams {
  std::map<std::vector<int64_t>, size_t> places;
  std::vector<int64_t> columns;
  int64_t width = 0;  // columns of Y

  // THROWS if the lists do not fit each other.
  explicit KnownGrams(const ArgumentHelper& args) : columns(args.Read(kGramColumns)) {
    const std::vector<int64_t> begins = args.Read(kGramCounts), pool = args.Read(kGramPool);
    const int64_t total = static_cast<int64_t>(pool.size());
    size_t place = 0;
    for (size_t i = 0; i < begins.size(); ++i) {
      const int64_t length = static_cast<int64_t>(i) + 1;
      const int64_t end = i + 1 < begins.size() ? begins[i + 1] : total;
      CAFFE_ENFORCE(
          begins[i] >= 0 && begins[i] <= end && end <= total && (end - begins[i]) % length == 0,
          "n-grams of ", length, " elements are ", begins[i], " to ", end, " of ", total,
          " elements of pool_int64s, want a range of whole n-grams");
      for (int64_t at = begins[i]; at < end; at += length)
        places.emplace(std::vector<int64_t>(pool.begin() + at, pool.begin() + at + length),
                       place++);
    }
    CAFFE_ENFORCE_EQ(columns.size(), place, "elements of ngram_indexes, want one for each n-gram");
    for (const int64_t column : columns) {
      CAFFE_ENFORCE(column >= 0 && column < INT64_MAX, "element of ngram_indexes is ", column);
      width = std::max(width, column + 1);
    }
  }
};

class TfIdfVectorizerOp final : public Operator<CPUContext> {
 public:
  TfIdfVectorizerOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws),
        grams_(args()),
        least_(ReadArgument(kGramLeast)),
        most_(ReadArgument(kGramMost)),
        skips_(ReadArgument(kGramSkips)),
        weights_(ReadArgument(kGramWeights)),
        mode_(ReadArgument(kGramMode)) {
    CAFFE_ENFORCE_LE(least_, most_, "min_gram_length, want at most max_gram_length");
    CAFFE_ENFORCE(weights_.empty() || weights_.size() == grams_.columns.size(),
                  "argument weights has ", weights_.size(), " elements, want one for each of ",
                  grams_.columns.size(), " n-grams");
  }

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    CAFFE_ENFORCE(X.dim() == 1 || X.dim() == 2, "rank of input 0 (X) is ", X.dim(),
                  ", want 1 or 2");
    const int64_t rows = X.dim() == 1 ? 1 : X.dim(0), length = X.dim(X.dim() - 1);
    dims_.assign(X.dims().begin(), X.dims().end() - 1);
    dims_.push_back(grams_.width);
    return DispatchByType<int64_t, int32_t>(X.dtype(), "input 0 (X)", [&](auto element) {
      float* const y = OutputData<float>(0, dims_);
      std::fill_n(y, rows * grams_.width, 0.0f);
      const auto* const x = X.numel() > 0 ? X.data<decltype(element)>() : nullptr;
      for (int64_t i = 0; i < rows; ++i) CountRow(x + i * length, length, y + i * grams_.width);
      return true;
    });
  }

 private:
  template <class T>
  void CountRow(const T* x, int64_t length, float* y) {
    for (int64_t n = least_; n <= most_ && n <= length; ++n) {
      // Elements of single ones are not apart.
      const int64_t farthest = n == 1 ? 1 : std::min(skips_, length) + 1;
      for (int64_t apart = 1; apart <= farthest && (n - 1) * apart < length; ++apart) {
        for (int64_t first = 0; first + (n - 1) * apart < length; ++first) {
          gram_.clear();
          for (int64_t k = 0; k < n; ++k) gram_.push_back(x[first + k * apart]);
          const auto found = grams_.places.find(gram_);
          if (found != grams_.places.end()) Count(found->second, y);
        }
      }
    }
  }
  void Count(size_t place, float* y) const {
    float& out = y[grams_.columns[place]];
    const float weight = weights_.empty() ? 1 : weights_[place];
    if (mode_ == "IDF") {
      out = weight;
    } else {
      out += mode_ == "TF" ? 1 : weight;
    }
  }

  const KnownGrams grams_;
  const int64_t least_, most_, skips_;
  const std::vector<float> weights_;
  const std::string mode_;
  std::vector<int64_t> dims_, gram_;
};

}  // namespace

void RegisterTfIdfVectorizer() {
  RegisterSchema("TfIdfVectorizer", __FILE__)
      .NumInputs(1)
      .NumOutputs(1)
      .Args(kGramLeast, kGramMost, kGramSkips, kGramMode, kGramCounts, kGramColumns, kGramPool,
            kGramWeights)
      .Input(0, "X", "int32 or int64 [C] or [N, C]")
      .Output(0, "Y", "float [columns] or [N, columns]: counts or weights of the n-grams")
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        if (!AreKnown(in, 1) || in[0].dims_size() < 1 || in[0].dims_size() > 2)
          return UnknownOutputs(def);
        std::vector<int64_t> dims = GetDimsVector(in[0]);
        dims.back() = KnownGrams(ArgumentHelper(def)).width;
        return std::vector<TensorShape>{CreateTensorShape(dims, TensorProto::FLOAT)};
      })
      .InheritOnnxSchema()
      .Traits({.family = OperatorFamily::kOther})
      .SetDoc("Counts the known n-grams of rows of integers, as ONNX's TfIdfVectorizer does.");
  RegisterCpuOperator<TfIdfVectorizerOp>("TfIdfVectorizer", __FILE__);
  // The inputs are only compared for equality.
  RegisterGradient<NoGradient>("TfIdfVectorizer", __FILE__);
}

}  // namespace caffe2rt
