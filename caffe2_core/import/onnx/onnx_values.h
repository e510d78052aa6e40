#pragma once
// What the importer knows of a blob: its element type, its shape, and the content of small tensors.
//
// Dimensions that the file names (symbols) or leaves out have no number. Every shape and content is
// therefore held several times, for several assignments of numbers to the symbols ("worlds"), and
// everything is computed in all of them. What is equal in all does not depend on a symbol, and is
// called fixed; a dimension that equals a symbol in the plain worlds is that symbol. No algebra of
// symbols is needed.
//
// The first worlds are plain: their numbers are such that usual models run with them. The others
// have numbers on which a model may decide: 0, 1, large ones, and orders of two symbols that the
// plain worlds do not have. A model need not run with these: where it does not, the first world
// counts instead. Two integers that are unequal in all worlds may still be equal for other numbers
// (folding.cc).

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "caffe2_core/base/narrow_number.h"
#include "caffe2_core/tensor/tensor.h"
#include "caffe2rt/caffe2.pb.h"
#include "caffe2rt/onnx.pb.h"

namespace caffe2rt {

using OnnxDims = std::vector<int64_t>;
inline constexpr size_t kOnnxWorlds = 7;
inline constexpr size_t kPlainOnnxWorlds = 2;

// Whether a failure in the world is one of the model.
inline bool IsPlainOnnxWorld(size_t world) { return world < kPlainOnnxWorlds; }

template <class T>
using InOnnxWorlds = std::array<T, kOnnxWorlds>;
// The same in all worlds.
template <class T>
InOnnxWorlds<T> InAllOnnxWorlds(const T& value) {
  InOnnxWorlds<T> all;
  all.fill(value);
  return all;
}
template <class T>
bool AreSameInOnnxWorlds(const InOnnxWorlds<T>& values) {
  for (const T& value : values) {
    if (value != values[0]) return false;
  }
  return true;
}
// Elements of a tensor whose content is followed.
inline constexpr int64_t kMaxOnnxContent = 4096;

// The elements of a small tensor of numbers or bools.
struct OnnxContent {
  bool real = false;  // which of the lists holds them
  InOnnxWorlds<std::vector<int64_t>> ints = {};
  InOnnxWorlds<std::vector<double>> reals = {};

  bool IsFixed() const;
  // Of `ints`.
  bool IsFixedAt(size_t i) const;
  size_t size() const { return real ? reals[0].size() : ints[0].size(); }
};

struct OnnxBlob {
  int type = 0;           // an onnx::TensorProto::DataType; 0 if it is not known
  bool has_dims = false;  // `dims` are known
  int64_t rank = -1;      // the number of dims where `dims` are not known; -1 if that is not known
  InOnnxWorlds<OnnxDims> dims = {};                      // of one rank
  std::shared_ptr<const OnnxContent> content = nullptr;  // shared by blobs with equal elements
  // Of the init net, or of no net yet: then it is written when an operator reads it.
  bool is_constant = false;
  bool is_written = true;
  const onnx::TensorProto* tensor = nullptr;  // the elements of a constant, if not `content`

  bool IsFixed() const { return has_dims && AreSameInOnnxWorlds(dims); }
  bool IsFixedDim(size_t i) const;
  // Known if the ranks of the plain worlds are equal. Where that of another one differs, it has the
  // dims of the first.
  void SetDims(InOnnxWorlds<OnnxDims> in_worlds);
};

// FLOAT16 and BFLOAT16: the blobs are float, and are rounded after each operator.
bool IsRoundedOnnxType(int type);
// Of 8 bits and less: FLOAT8E4M3FN, INT4 and the like. The blobs are float, int8 or uint8 and hold the same
// numbers. nullopt for other types.
std::optional<NarrowFormat> NarrowFormatOf(int type);
int OnnxTypeOfFormat(NarrowFormat format);
// Of the blobs. THROWS for types that have no tensors here.
TensorProto::DataType Caffe2TypeOf(int onnx_type);
// UNDEFINED if there is none.
int OnnxTypeOf(TensorProto::DataType type);
bool IsOnnxReal(int type);     // floating point
bool IsOnnxInteger(int type);  // bool is none

// The content of a small tensor of numbers; null for others.
std::shared_ptr<const OnnxContent> ContentOf(const Tensor& tensor);
// The tensor of a fixed content.
Tensor TensorOf(const OnnxContent& content, const OnnxDims& dims, int onnx_type);

// The numbers of symbols in the worlds.
class OnnxSymbols {
 public:
  // Those of a symbol; of a new one if the name is empty.
  InOnnxWorlds<int64_t> Of(const std::string& name);
  // The name of the symbol with these numbers in the plain worlds, or "".
  std::string NameOf(int64_t first, int64_t second) const;

 private:
  std::map<std::string, InOnnxWorlds<int64_t>> numbers_;
  int64_t count_ = 0;
};

}  // namespace caffe2rt
