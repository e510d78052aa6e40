// Gradient operators reject a gradient that has one element more in a dim than the output that it belongs to.

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "tests/operators/gradients/draft.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::wrong_gradients_test {
namespace {

// An operator of a draft that has run, with a gradient of each output.
class GivenGradients {
 public:
  GivenGradients(const Recipe& recipe, uint32_t seed) {
    Draft draft(&ws_, seed, false);
    recipe.draft(draft, recipe.type);
    def_ = draft.op();
    const std::vector<std::string>& left_out = draft.check.outputs_without_gradient;
    ws_.RunOperatorOnce(def_);
    given_.resize(static_cast<size_t>(def_.output_size()));
    for (size_t i = 0; i < given_.size(); ++i) {
      const std::string& output = def_.output(static_cast<int>(i));
      const Blob* const blob = ws_.GetBlob(output);
      if (!blob->IsType<Tensor>()) continue;
      const Tensor& y = blob->Get<Tensor>();
      if (!y.IsType<float>() || std::count(left_out.begin(), left_out.end(), output) > 0) continue;
      given_[i].dense_ = output + "_grad";
      dims_[given_[i].dense_] = y.dims();
    }
  }
  // The dims of the gradients.
  const std::map<std::string, std::vector<int64_t>>& dims() const { return dims_; }

  // Whether the gradient operators reject the gradients if `name` has the dims, or compute something whose dims
  // follow from it alone. All gradients are 1.
  bool AreRejected(const std::string& name, const std::vector<int64_t>& dims) {
    for (const auto& [gradient, own] : dims_) Feed1(gradient, gradient == name ? dims : own);
    const GradientOpsMeta meta = GetGradientForOp(def_, given_);
    const auto reads = [&](const OperatorDef& op) {
      return std::count(op.input().begin(), op.input().end(), name) > 0;
    };
    if (std::none_of(meta.ops_.begin(), meta.ops_.end(), reads)) return true;
    try {
      for (const OperatorDef& op : meta.ops_) ws_.RunOperatorOnce(op);
    } catch (const EnforceNotMet&) {
      return true;
    }
    for (size_t i = 0; i < meta.g_input_.size(); ++i) {
      if (!meta.g_input_[i].IsDense()) continue;
      const Blob* const blob = ws_.GetBlob(meta.g_input_[i].dense_);
      const Tensor& x = ws_.GetBlob(def_.input(static_cast<int>(i)))->Get<Tensor>();
      if (blob->Get<Tensor>().dims() != x.dims()) return true;
    }
    return false;
  }

 private:
  void Feed1(const std::string& name, const std::vector<int64_t>& dims) {
    Tensor* const tensor = ws_.CreateBlob(name)->GetMutableTensor(CPU);
    tensor->Resize(dims);
    std::fill_n(tensor->mutable_data<float>(), tensor->numel(), 1.0f);
  }

  Workspace ws_;
  OperatorDef def_;
  std::vector<GradientWrapper> given_;
  std::map<std::string, std::vector<int64_t>> dims_;
};

// Why the gradient of a type accepts other dims; "" if it does not.
std::string WhyAccepted(const std::string& type) {
  for (const char* const sums : {"Expand", "ONNXExpand", "ONNXMax", "ONNXMin", "ONNXWhere",
                                 "ResizeNearest", "UpsampleBilinear"}) {
    if (type == sums) return "it sums or resizes a gradient of any size";
  }
  if (type == "PackRNNSequence" || type == "UnpackRNNSequence") {
    return "it leaves out rows behind those of the sequences, as in Caffe2";
  }
  if (type == "Col2Im") return "it copies the windows of a gradient of any size";
  if (type.starts_with("UnsortedSegment") || type.starts_with("SparseLengths") ||
      type.starts_with("SparseSorted") || type.starts_with("SparseUnsorted") ||
      type == "SparseToDense" || type == "BatchSparseToDense" || type == "TTSparseLengthsSum") {
    return "it reads only the rows that have an index";
  }
  return "";
}

class WrongGradientsTest : public testing::TestWithParam<Recipe> {};

TEST_P(WrongGradientsTest, AreRejected) {
  const Recipe& recipe = GetParam();
  if (!WhyAccepted(recipe.type).empty()) return;
  for (uint32_t seed = 1; seed <= 3 && !HasFailure(); ++seed) {
    std::map<std::string, std::vector<int64_t>> gradients = GivenGradients(recipe, seed).dims();
    for (const auto& [name, own] : gradients) {
      for (size_t i = 0; i < std::max<size_t>(own.size(), 1); ++i) {
        std::vector<int64_t> dims = own;
        if (dims.empty()) dims.push_back(1);
        ++dims[i];
        EXPECT_TRUE(GivenGradients(recipe, seed).AreRejected(name, dims))
            << "draft " << seed << ", gradient \"" << name << "\" of shape " << IntArrayRef(dims)
            << " instead of " << IntArrayRef(own);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(AllTypes, WrongGradientsTest, testing::ValuesIn(AllRecipes()),
                         [](const testing::TestParamInfo<Recipe>& info) {
                           return info.param.type + info.param.variant;
                         });

}  // namespace
}  // namespace caffe2rt::test::wrong_gradients_test
