// Recipes for reductions and matrix multiplication.

#include "tests/operators/gradients/draft.h"

namespace caffe2rt::test {
namespace {

void FeedForReduction(Draft& draft, const std::string& type, const std::vector<int64_t>& dims) {
  const bool kinked = type.find("Max") != std::string::npos ||
                      type.find("Min") != std::string::npos || type == "ReduceL1";
  if (kinked) {
    draft.FeedApart("X", dims);
  } else {
    draft.FeedSmooth("X", dims, 0.5, 2);
  }
}

void DraftReduce(Draft& draft, const std::string& type) {
  const std::vector<int64_t> dims = draft.Dims(1, 4, 3);
  const int64_t rank = static_cast<int64_t>(dims.size());
  std::vector<int64_t> axes;
  for (int64_t axis = 0; axis < rank; ++axis) {
    if (draft.Coin()) axes.push_back(draft.Coin() ? axis : axis - rank);
  }
  FeedForReduction(draft, type, dims);
  draft.SetOperator(type, {"X"}, {"Y"}).Argument("keepdims", draft.Coin());
  if (!axes.empty()) draft.Argument("axes", axes);
}

void DraftMoments(Draft& draft, const std::string& type) {
  DraftReduce(draft, type);
  OperatorDef op = draft.op();
  op.add_output("variance");
  const int64_t rank = draft.workspace()->GetBlob("X")->Get<Tensor>().dim();
  for (Argument& arg : *op.mutable_arg()) {
    for (int64_t& axis : *arg.mutable_ints()) axis += axis < 0 ? rank : 0;
  }
  draft.SetOperator(op);
}

void DraftReduceEnd(Draft& draft, const std::string& type) {
  const std::vector<int64_t> dims = draft.Dims(1, 4, 3);
  FeedForReduction(draft, type, dims);
  draft.SetOperator(type, {"X"}, {"Y"})
      .Argument("num_reduce_dim", draft.Int(1, static_cast<int64_t>(dims.size())));
}

// With the number of elements that count.
void DraftReduceLengths(Draft& draft, const std::string& type) {
  const int64_t rows = draft.Int(1, 4), columns = draft.Int(1, 4);
  const bool front = type.find("Front") != std::string::npos;
  std::vector<int32_t> lengths(static_cast<size_t>(front ? columns : rows));
  for (int32_t& length : lengths) {
    length = static_cast<int32_t>(draft.Int(1, front ? rows : columns));
  }
  FeedForReduction(draft, type, {rows, columns});
  draft.FeedInt32("lengths", {static_cast<int64_t>(lengths.size())}, lengths);
  draft.SetOperator(type, {"X", "lengths"}, {"Y"}).Argument("num_reduce_dim", 1);
}

void DraftMatrixMax(Draft& draft, const std::string& type) {
  draft.FeedApart("X", draft.Dims(3, 3));
  draft.SetOperator(type, {"X"}, {"Y"});
}

void DraftSumElements(Draft& draft, const std::string& type) {
  draft.FeedSmooth("X", draft.Dims(0, 3));
  draft.SetOperator(type, {"X"}, {"Y"}).Argument("average", draft.Coin());
}

void DraftMatMul(Draft& draft, const std::string& type) {
  const int64_t m = draft.Int(1, 4), k = draft.Int(1, 4), n = draft.Int(1, 4);
  const bool trans_a = draft.Coin(), trans_b = draft.Coin();
  draft.FeedSmooth("A", trans_a ? std::vector<int64_t>{k, m} : std::vector<int64_t>{m, k});
  draft.FeedSmooth("B", trans_b ? std::vector<int64_t>{n, k} : std::vector<int64_t>{k, n});
  draft.SetOperator(type, {"A", "B"}, {"Y"})
      .Argument("trans_a", trans_a)
      .Argument("trans_b", trans_b);
}

void DraftRowMul(Draft& draft, const std::string& type) {
  const std::vector<int64_t> dims = draft.Dims(1, 3);
  draft.FeedSmooth("mat", dims);
  draft.FeedSmooth("w", {dims[0]});
  draft.SetOperator(type, {"mat", "w"}, {"Y"});
}

void DraftBatchMatMul(Draft& draft, const std::string& type) {
  const int64_t m = draft.Int(1, 3), k = draft.Int(1, 3), n = draft.Int(1, 3);
  const bool trans_a = draft.Coin(), trans_b = draft.Coin();
  const bool broadcast = draft.Coin();
  std::vector<int64_t> a = draft.Dims(1, 2, 3), b = a;
  if (broadcast) {
    for (std::vector<int64_t>* dims : {&a, &b}) {
      if (draft.Coin()) dims->at(static_cast<size_t>(draft.Int(0, 1)) % dims->size()) = 1;
      if (draft.Coin()) dims->erase(dims->begin());
    }
  }
  for (const int64_t dim : trans_a ? std::vector{k, m} : std::vector{m, k}) a.push_back(dim);
  for (const int64_t dim : trans_b ? std::vector{n, k} : std::vector{k, n}) b.push_back(dim);
  draft.FeedSmooth("A", a);
  draft.FeedSmooth("B", b);
  draft.SetOperator(type, {"A", "B"}, {"Y"})
      .Argument("trans_a", trans_a)
      .Argument("trans_b", trans_b)
      .Argument("broadcast", broadcast)
      .Argument("broadcast_gradient", broadcast);
}

void DraftFC(Draft& draft, const std::string& type) {
  const std::vector<int64_t> x = draft.Dims(2, 4, 3);
  const int64_t axis = draft.Int(1, static_cast<int64_t>(x.size()) - 1), n = draft.Int(1, 4);
  int64_t k = 1;
  for (size_t i = static_cast<size_t>(axis); i < x.size(); ++i) k *= x[i];
  draft.FeedSmooth("X", x);
  draft.FeedSmooth("W", type == "FC" ? std::vector<int64_t>{n, k} : std::vector<int64_t>{k, n});
  draft.FeedSmooth("b", {n});
  draft.SetOperator(type, {"X", "W", "b"}, {"Y"}).Argument("axis", axis);
}

void DraftFrontWeightedSum(Draft& draft, const std::string& type) {
  const std::vector<int64_t> dims = draft.Dims(1, 3);
  const int64_t count = draft.Int(1, static_cast<int64_t>(dims.size()));
  draft.FeedSmooth("X", dims);
  draft.FeedSmooth("W", {dims.begin(), dims.begin() + count});
  draft.SetOperator(type, {"X", "W"}, {"Y"}).Argument("num_reduce_dim", count);
}

}  // namespace

std::vector<Recipe> ReductionRecipes() {
  std::vector<Recipe> recipes;
  for (const char* type : {"ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax",
                           "ReduceMean", "ReduceMin", "ReduceSum", "ReduceSumSquare"}) {
    recipes.push_back({type, "", DraftReduce});
  }
  for (const char* type : {"ReduceBackMax", "ReduceBackMean", "ReduceBackSum", "ReduceFrontMax",
                           "ReduceFrontMean", "ReduceFrontSum"}) {
    recipes.push_back({type, "", DraftReduceEnd});
    recipes.push_back({type, "Lengths", DraftReduceLengths});
  }
  recipes.push_back({"ReduceFrontWeightedSum", "", DraftFrontWeightedSum});
  recipes.push_back({"Moments", "", DraftMoments});
  recipes.push_back({"ColwiseMax", "", DraftMatrixMax});
  recipes.push_back({"RowwiseMax", "", DraftMatrixMax});
  recipes.push_back({"SumElements", "", DraftSumElements});
  recipes.push_back({"MatMul", "", DraftMatMul});
  recipes.push_back({"BatchMatMul", "", DraftBatchMatMul});
  recipes.push_back({"RowMul", "", DraftRowMul});
  recipes.push_back({"FC", "", DraftFC});
  recipes.push_back({"FCTransposed", "", DraftFC});
  return recipes;
}

}  // namespace caffe2rt::test
