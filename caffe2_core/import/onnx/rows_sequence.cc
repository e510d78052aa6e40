// Sequences of tensors whose lengths and positions are known: each is a list of blobs at import
// (OnnxNets::sequences), for which no operator is written.

#include <algorithm>

#include "caffe2_core/import/onnx/node_table.h"

namespace caffe2rt {
namespace {

using Proto = onnx::TensorProto;
using Blobs = std::vector<std::string>;

const Blobs& ListOf(OnnxNode* n, size_t i) {
  const auto found = n->nets().sequences.find(n->In(i));
  CAFFE_ENFORCE(found != n->nets().sequences.end(), "input ", i, " is no sequence");
  return found->second;
}

void Give(OnnxNode* n, Blobs blobs) {
  constexpr size_t kMaxLength = 65536;
  CAFFE_ENFORCE_LE(blobs.size(), kMaxLength, "tensors in a sequence");
  const std::string y = n->Out(0);
  n->nets().Define(y);
  n->nets().sequences[y] = std::move(blobs);
}

// Input `i`, or `missing`, as a position in 0 .. count - 1; a negative one counts from the end.
int64_t PositionOf(OnnxNode* n, size_t i, int64_t missing, int64_t size, int64_t count) {
  int64_t at = n->IntOr(i, missing);
  if (at < 0) at += size;
  CAFFE_ENFORCE(at >= 0 && at < count, "position ", n->IntOr(i, missing),
                " is out of range for a sequence of ", size, " tensors");
  return at;
}

void TranslateSequenceConstruct(OnnxNode* n) { Give(n, n->Ins()); }

void TranslateSequenceEmpty(OnnxNode* n) { Give(n, {}); }

void TranslateSequenceInsert(OnnxNode* n) {
  Blobs blobs = ListOf(n, 0);
  const auto size = static_cast<int64_t>(blobs.size());
  blobs.insert(blobs.begin() + PositionOf(n, 2, size, size, size + 1), n->In(1));
  Give(n, std::move(blobs));
}

void TranslateSequenceErase(OnnxNode* n) {
  Blobs blobs = ListOf(n, 0);
  const auto size = static_cast<int64_t>(blobs.size());
  blobs.erase(blobs.begin() + PositionOf(n, 1, -1, size, size));
  Give(n, std::move(blobs));
}

void TranslateSequenceAt(OnnxNode* n) {
  const Blobs& blobs = ListOf(n, 0);
  const auto size = static_cast<int64_t>(blobs.size());
  n->Forward(0, blobs.at(static_cast<size_t>(PositionOf(n, 1, 0, size, size))));
}

void TranslateSequenceLength(OnnxNode* n) {
  n->Forward(0, n->ScalarConst("length", static_cast<double>(ListOf(n, 0).size()), Proto::INT64));
}

// The sizes of the parts along an axis of `size` elements: those of the list `split`, or of one number.
std::vector<int64_t> PartSizes(OnnxNode* n, int64_t size) {
  const bool is_list = n->Has(1) && n->Rank(n->In(1)) == 1;
  if (is_list) return n->Ints(1);
  const int64_t part = n->IntOr(1, 1);
  CAFFE_ENFORCE_GE(part, 1, "elements of a part");
  std::vector<int64_t> sizes;
  for (int64_t begin = 0; begin < size; begin += part)
    sizes.push_back(std::min(part, size - begin));
  return sizes;
}

void TranslateSplitToSequence(OnnxNode* n) {
  const std::string& x = n->In(0);
  const int64_t axis = n->Axis(x, n->Int("axis", 0));
  const std::vector<int64_t> sizes = PartSizes(n, n->FixedDim(x, axis));
  if (sizes.empty()) return Give(n, {});
  Blobs parts = {x};
  if (sizes.size() > 1) {
    parts = n->CallAll("Split", {x, n->IntConst("sizes", sizes)}, {OnnxInt("axis", axis)},
                       sizes.size());
  }
  if (!n->Has(1) && n->Int("keepdims", 1) == 0) {
    for (std::string& part : parts) {
      part = n->Call("Squeeze", {part, n->IntConst("axes", {axis})});
    }
  }
  Give(n, std::move(parts));
}

void TranslateConcatFromSequence(OnnxNode* n) {
  Blobs blobs = ListOf(n, 0);
  CAFFE_ENFORCE(!blobs.empty(), "the sequence is empty");
  const int64_t axis = n->Int("axis", 0);
  if (n->Int("new_axis", 0) != 0) {
    for (std::string& blob : blobs) {
      blob = n->Call("Unsqueeze", {blob, n->IntConst("axes", {axis})});
    }
  }
  n->Forward(0, n->Call("Concat", blobs, {OnnxInt("axis", axis)}));
}

}  // namespace

std::vector<OnnxRow> OnnxSequenceRows() {
  return {{"ConcatFromSequence", &TranslateConcatFromSequence, "", true},
          {"SequenceAt", &TranslateSequenceAt, "", true},
          {"SequenceConstruct", &TranslateSequenceConstruct, "", true},
          {"SequenceEmpty", &TranslateSequenceEmpty, "", true},
          {"SequenceErase", &TranslateSequenceErase, "", true},
          {"SequenceInsert", &TranslateSequenceInsert, "", true},
          {"SequenceLength", &TranslateSequenceLength, "", true},
          {"SplitToSequence", &TranslateSplitToSequence, "", true}};
}

}  // namespace caffe2rt
