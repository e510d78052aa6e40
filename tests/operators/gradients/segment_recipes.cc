// Recipes for operators on sequences and for reductions of segments.

#include <algorithm>
#include <numeric>

#include "tests/operators/gradients/draft.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test {
namespace {

bool Contains(const std::string& type, const char* part) {
  return type.find(part) != std::string::npos;
}

// Feeds the lengths L of 1 to 4 segments and returns their sum, which is at least 1.
int64_t FeedLengths(Draft& draft, int64_t least, std::vector<int32_t>* lengths) {
  const int64_t count = draft.Int(1, 4);
  for (int64_t s = 0; s < count; ++s) {
    lengths->push_back(static_cast<int32_t>(draft.Int(least, least + 3)));
  }
  lengths->back() = std::max(lengths->back(), 1);
  draft.FeedInt32("L", {count}, *lengths);
  return std::accumulate(lengths->begin(), lengths->end(), int64_t{0});
}

// Rows of random inner dimensions.
std::vector<int64_t> RowDims(Draft& draft, int64_t rows) {
  std::vector<int64_t> dims = draft.Dims(0, 2);
  dims.insert(dims.begin(), rows);
  return dims;
}

void DraftPackSegments(Draft& draft, const std::string& type) {
  std::vector<int32_t> lengths;
  const int64_t rows = FeedLengths(draft, 0, &lengths);
  const int64_t longest = *std::max_element(lengths.begin(), lengths.end());
  const int64_t width = std::max<int64_t>(1, longest + draft.Int(-1, 1));
  std::vector<int64_t> dims = RowDims(draft, rows);
  if (type == "UnpackSegments") {
    dims[0] = width;
    dims.insert(dims.begin(), static_cast<int64_t>(lengths.size()));
  }
  draft.FeedSmooth("X", dims);
  draft.SetOperator(type, {"L", "X"}, {"Y"}).Argument("max_length", width);
}

void DraftReversePackedSegs(Draft& draft, const std::string& type) {
  std::vector<int32_t> lengths;
  FeedLengths(draft, 0, &lengths);
  const int64_t steps = *std::max_element(lengths.begin(), lengths.end()) + draft.Int(0, 1);
  draft.FeedSmooth("X", {steps, static_cast<int64_t>(lengths.size()), draft.Int(1, 3)});
  draft.SetOperator(type, {"X", "L"}, {"Y"});
}

void DraftPadding(Draft& draft, const std::string& type) {
  const int64_t start = draft.Int(0, 2), end = draft.Int(start == 0 ? 1 : 0, 2);
  std::vector<int32_t> lengths;
  const int64_t rows = FeedLengths(draft, type == "RemovePadding" ? start + end : 0, &lengths);
  const std::vector<int64_t> dims = RowDims(draft, rows);
  const std::vector<int64_t> inner(dims.begin() + 1, dims.end());
  draft.FeedSmooth("X", dims);
  std::vector<std::string> inputs = {"X", "L"};
  if (type == "AddPadding" && draft.Coin()) {
    draft.FeedSmooth("S", inner);
    inputs.push_back("S");
    if (draft.Coin()) {
      draft.FeedSmooth("E", inner);
      inputs.push_back("E");
    }
  }
  draft.SetOperator(type, inputs, {"Y", "M"})
      .Argument("padding_width", start)
      .Argument("end_padding_width", end);
}

void DraftSequenceMask(Draft& draft, const std::string& type) {
  constexpr const char* kModes[] = {"sequence", "window",    "upper",
                                    "lower",    "upperdiag", "lowerdiag"};
  const std::vector<int64_t> dims = draft.Dims(2, 3);
  const int64_t axis = draft.Int(1, static_cast<int64_t>(dims.size()) - 1);
  const int64_t rows =
      std::accumulate(dims.begin(), dims.begin() + axis, int64_t{1}, std::multiplies<>());
  std::vector<int32_t> numbers;
  for (int64_t i = 0; i < rows; ++i) numbers.push_back(static_cast<int32_t>(draft.Int(0, 4)));
  draft.FeedSmooth("X", dims);
  draft.FeedInt32("L", {rows}, numbers);
  draft.SetOperator(type, {"X", "L"}, {"Y"})
      .Argument("mode", kModes[draft.Int(0, 5)])
      .Argument("axis", axis)
      .Argument("radius", draft.Int(0, 2))
      .Argument("fill_val", 0.5f);
}

// Feeds DATA, the weights and the indices, and states the operator over the segments `last`.
void SetReduction(Draft& draft, const std::string& type, int64_t positions,
                  const std::string& last) {
  const bool sparse = type.starts_with("Sparse"), weighted = Contains(type, "Weighted");
  const int64_t rows = sparse ? draft.Int(1, 5) : positions;
  std::vector<std::string> inputs = {"X"};
  const std::vector<int64_t> dims = RowDims(draft, rows);
  if (Contains(type, "Max")) {
    draft.FeedApart("X", dims);
  } else {
    draft.FeedSmooth("X", dims);
  }
  if (weighted) {
    draft.FeedSmooth("W", {positions});
    inputs.push_back("W");
  }
  if (sparse) {
    std::vector<int64_t> indices;
    for (int64_t i = 0; i < positions; ++i) indices.push_back(draft.Int(0, rows - 1));
    draft.FeedIndices("I", {positions}, indices);
    inputs.push_back("I");
  }
  inputs.push_back(last);
  draft.SetOperator(type, inputs, {"Y"});
  if (weighted && Contains(type, "Lengths") && draft.Coin()) draft.Argument("grad_on_weights", 1);
}

void DraftLengths(Draft& draft, const std::string& type) {
  std::vector<int32_t> lengths;
  const int64_t positions = FeedLengths(draft, 0, &lengths);
  SetReduction(draft, type, positions, "L");
}

void DraftLengthsTile(Draft& draft, const std::string& type) {
  std::vector<int32_t> lengths;
  FeedLengths(draft, 0, &lengths);
  draft.FeedSmooth("X", RowDims(draft, static_cast<int64_t>(lengths.size())));
  draft.SetOperator(type, {"X", "L"}, {"Y"});
}

void DraftLengthsTopK(Draft& draft, const std::string& type) {
  std::vector<int32_t> lengths;
  draft.FeedApart("X", {FeedLengths(draft, 0, &lengths)});
  draft.SetOperator(type, {"X", "L"}, {"V", "I"}).Argument("k", draft.Int(1, 4));
}

void DraftRNNSequence(Draft& draft, const std::string& type) {
  std::vector<int32_t> lengths;
  const int64_t rows = FeedLengths(draft, 0, &lengths);
  std::vector<int64_t> dims = draft.Dims(1, 2);
  if (type == "PackRNNSequence") {
    dims.insert(dims.begin(), rows);
  } else {
    dims.insert(dims.begin(), {*std::max_element(lengths.begin(), lengths.end()),
                               static_cast<int64_t>(lengths.size())});
  }
  draft.FeedSmooth("X", dims);
  draft.SetOperator(type, {"X", "L"}, {"Y"});
}

// No column of a row is named twice.
void DraftSparseRows(Draft& draft, const std::string& type) {
  const int64_t rows = draft.Int(1, 4), columns = draft.Int(1, 4);
  std::vector<int64_t> lengths(static_cast<size_t>(rows)), indices;
  for (int64_t& length : lengths) {
    for (int64_t column = columns - 1; column >= 0; --column) {
      if (indices.empty() || draft.Coin()) {
        indices.push_back(column);
        ++length;
      }
    }
  }
  const auto count = static_cast<int64_t>(indices.size());
  draft.FeedInt64("L", {rows}, lengths);
  draft.FeedInt64("I", {count}, indices);
  const bool to_dense = type == "BatchSparseToDense";
  std::vector<int64_t> dims = {rows, columns};
  if (to_dense) dims = {count};
  draft.FeedSmooth("X", dims);
  draft.SetOperator(type, {"L", "I", "X"}, {"Y"});
  if (to_dense) draft.Argument("dense_last_dim", columns).Argument("default_value", 0.5f);
}

void DraftGatherByKey(Draft& draft, const std::string& type) {
  const int64_t shards = draft.Int(1, 3), rows = draft.Int(1, 6);
  std::vector<int64_t> keys, counts(static_cast<size_t>(shards)), dims = draft.Dims(0, 2);
  for (int64_t i = 0; i < rows; ++i) {
    const int64_t quotient = draft.Int(-2, 2), shard = draft.Int(0, shards - 1);
    keys.push_back(quotient * shards + shard);
    ++counts[static_cast<size_t>(shard)];
  }
  draft.FeedInt64("K", {rows}, keys);
  dims.insert(dims.begin(), 0);
  std::vector<std::string> inputs = {"K"};
  for (const int64_t count : counts) {
    inputs.push_back("X" + std::to_string(inputs.size()));
    dims[0] = count;
    draft.FeedSmooth(inputs.back(), dims);
  }
  draft.SetOperator(type, inputs, {"Y"});
}

// One or two groups of features of up to three examples; the first example has a feature.
void DraftMergeFeatures(Draft& draft, const std::string& type) {
  const bool is_single = Contains(type, "Single"), has_lengths = !Contains(type, "Scalar");
  const int64_t examples = draft.Int(1, 3), groups = draft.Int(1, 2);
  std::vector<std::string> inputs, outputs = {"L", "K"};
  for (int64_t g = 0; g < groups; ++g) {
    const std::string place = std::to_string(g);
    std::vector<int32_t> marks, lengths;
    int64_t values = 0;
    for (int64_t e = 0; e < examples; ++e) {
      marks.push_back(g + e == 0 ? 1 : static_cast<int32_t>(draft.Int(0, is_single ? 1 : 2)));
      for (int k = 0; k < (is_single ? 1 : marks.back()); ++k) {
        lengths.push_back(has_lengths ? static_cast<int32_t>(draft.Int(1, 2)) : 1);
        if (marks.back() > 0 || !has_lengths) values += lengths.back();
      }
    }
    const auto features = static_cast<int64_t>(lengths.size());
    if (is_single) {
      Feed<bool>(draft.workspace(), "P" + place, {examples},
                 std::vector<bool>(marks.begin(), marks.end()));
    } else {
      draft.FeedInt32("N" + place, {examples}, marks);
      draft.FeedInt64("I" + place, {features}, std::vector<int64_t>(lengths.size(), 7));
      inputs.insert(inputs.end(), {"N" + place, "I" + place});
    }
    if (has_lengths) {
      draft.FeedInt32("M" + place, {features}, lengths);
      inputs.push_back("M" + place);
    }
    if (Contains(type, "Map")) {
      draft.FeedInt64("J" + place, {values}, std::vector<int64_t>(static_cast<size_t>(values), 3));
      inputs.push_back("J" + place);
    }
    draft.FeedSmooth("X" + place, {values});
    inputs.push_back("X" + place);
    if (is_single) inputs.push_back("P" + place);
  }
  if (has_lengths) outputs.push_back("W");
  if (Contains(type, "Map")) outputs.push_back("Z");
  outputs.push_back("Y");
  draft.SetOperator(type, inputs, outputs);
  if (is_single)
    draft.Argument("feature_ids", std::vector<int64_t>(static_cast<size_t>(groups), 5));
}

void DraftSegmentIds(Draft& draft, const std::string& type) {
  const int64_t positions = draft.Int(1, 6);
  const bool sorted = Contains(type, "Sorted");
  std::vector<int32_t> ids = {0};
  while (static_cast<int64_t>(ids.size()) < positions) {
    ids.push_back(static_cast<int32_t>(sorted ? ids.back() + draft.Int(0, 1) : draft.Int(0, 4)));
  }
  draft.FeedInt32("S", {positions}, ids);
  SetReduction(draft, type, positions, "S");
}

void DraftTrain(Draft& draft, const std::string& type) {
  std::vector<int32_t> lengths;
  const int64_t positions = FeedLengths(draft, 0, &lengths);
  std::vector<int64_t> rows;
  while (static_cast<int64_t>(rows.size()) < positions) rows.push_back(draft.Int(0, 11));
  draft.FeedInt64("I", {positions}, rows);
  draft.FeedSmooth("A", {2, 1, 2, 3});
  draft.FeedSmooth("B", {3, 3, 1, 2});
  draft.FeedSmooth("C", {2, 2, 2, 1});
  draft.SetOperator(type, {"A", "B", "C", "I", "L"}, {"Y", "P", "Q", "J"})
      .Argument("factor_i", std::vector<int64_t>{2, 3, 2})
      .Argument("factor_j", std::vector<int64_t>{2, 1, 2})
      .Argument("ranks", std::vector<int64_t>{1, 3, 2, 1})
      .Argument("emb_size", draft.Int(3, 4));
  draft.check.outputs_without_gradient = {"P", "Q", "J"};
}

}  // namespace

std::vector<Recipe> SegmentRecipes() {
  std::vector<Recipe> recipes = {
      {"PackSegments", "", DraftPackSegments},
      {"UnpackSegments", "", DraftPackSegments},
      {"ReversePackedSegs", "", DraftReversePackedSegs},
      {"AddPadding", "", DraftPadding},
      {"RemovePadding", "", DraftPadding},
      {"SequenceMask", "", DraftSequenceMask},
      {"LengthsMax", "", DraftLengths},
      {"LengthsTile", "", DraftLengthsTile},
      {"LengthsTopK", "", DraftLengthsTopK},
      {"PackRNNSequence", "", DraftRNNSequence},
      {"UnpackRNNSequence", "", DraftRNNSequence},
      {"BatchSparseToDense", "", DraftSparseRows},
      {"BatchDenseToSparse", "", DraftSparseRows},
      {"GatherByKey", "", DraftGatherByKey},
      {"TTSparseLengthsSum", "", DraftTrain},
      {"SortedSegmentRangeSum", "", DraftSegmentIds},
      {"SortedSegmentRangeMean", "", DraftSegmentIds},
      {"SortedSegmentRangeMax", "", DraftSegmentIds},
      {"SortedSegmentRangeLogSumExp", "", DraftSegmentIds},
      {"SortedSegmentRangeLogMeanExp", "", DraftSegmentIds},
  };
  for (const std::string kind :
       {"SingleScalar", "SingleList", "SingleMap", "MultiScalar", "MultiList", "MultiMap"}) {
    recipes.push_back({"Merge" + kind + "FeatureTensors", "", DraftMergeFeatures});
  }
  for (const std::string reduction : {"Sum", "Mean", "WeightedSum"}) {
    for (const std::string sparse : {"", "Sparse"}) {
      recipes.push_back({sparse + "Lengths" + reduction, "", DraftLengths});
      recipes.push_back({sparse + "SortedSegment" + reduction, "", DraftSegmentIds});
      recipes.push_back({sparse + "UnsortedSegment" + reduction, "", DraftSegmentIds});
    }
  }
  return recipes;
}

}  // namespace caffe2rt::test
