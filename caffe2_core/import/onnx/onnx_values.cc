#include "caffe2_core/import/onnx/onnx_values.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/import/onnx/onnx_file.h"

namespace caffe2rt {
namespace {

using Proto = onnx::TensorProto;

struct TypePair {
  int onnx;
  TensorProto::DataType caffe2;
};

constexpr TypePair kTypes[] = {
    {Proto::FLOAT, TensorProto::FLOAT},   {Proto::UINT8, TensorProto::UINT8},
    {Proto::INT8, TensorProto::INT8},     {Proto::UINT16, TensorProto::UINT16},
    {Proto::INT16, TensorProto::INT16},   {Proto::INT32, TensorProto::INT32},
    {Proto::INT64, TensorProto::INT64},   {Proto::STRING, TensorProto::STRING},
    {Proto::BOOL, TensorProto::BOOL},     {Proto::DOUBLE, TensorProto::DOUBLE},
    {Proto::UINT32, TensorProto::UINT32}, {Proto::UINT64, TensorProto::UINT64},
    {Proto::FLOAT16, TensorProto::FLOAT}, {Proto::BFLOAT16, TensorProto::FLOAT}};

struct NarrowPair {
  int onnx;
  NarrowFormat format;
};

constexpr NarrowPair kNarrowTypes[] = {{Proto::FLOAT8E4M3FN, NarrowFormat::kFloat8E4M3FN},
                                       {Proto::FLOAT8E4M3FNUZ, NarrowFormat::kFloat8E4M3FNUZ},
                                       {Proto::FLOAT8E5M2, NarrowFormat::kFloat8E5M2},
                                       {Proto::FLOAT8E5M2FNUZ, NarrowFormat::kFloat8E5M2FNUZ},
                                       {Proto::FLOAT8E8M0, NarrowFormat::kFloat8E8M0},
                                       {Proto::FLOAT4E2M1, NarrowFormat::kFloat4E2M1},
                                       {Proto::INT4, NarrowFormat::kInt4},
                                       {Proto::UINT4, NarrowFormat::kUint4},
                                       {Proto::INT2, NarrowFormat::kInt2},
                                       {Proto::UINT2, NarrowFormat::kUint2}};

template <class T>
void CopyInts(const Tensor& tensor, OnnxContent* content) {
  const T* data = tensor.data<T>();
  content->ints[0].assign(data, data + tensor.numel());
}

template <class T>
void CopyReals(const Tensor& tensor, OnnxContent* content) {
  const T* data = tensor.data<T>();
  content->real = true;
  content->reals[0].assign(data, data + tensor.numel());
}

template <class T>
Tensor Filled(const OnnxContent& content, const OnnxDims& dims) {
  Tensor tensor(dims, CPU);
  T* to = tensor.mutable_data<T>();
  for (size_t i = 0; i < content.size(); ++i) {
    if (content.real) {
      to[i] = static_cast<T>(content.reals[0][i]);
    } else {
      to[i] = static_cast<T>(content.ints[0][i]);
    }
  }
  return tensor;
}

}  // namespace

bool OnnxContent::IsFixed() const {
  // NaNs are equal.
  const auto same = [](double a, double b) {
    return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b);
  };
  for (size_t world = 1; world < kOnnxWorlds; ++world) {
    if (ints[world] != ints[0] || !std::equal(reals[world].begin(), reals[world].end(),
                                              reals[0].begin(), reals[0].end(), same))
      return false;
  }
  return true;
}

bool OnnxContent::IsFixedAt(size_t i) const {
  return std::all_of(ints.begin(), ints.end(), [&](const std::vector<int64_t>& in_world) {
    return i < in_world.size() && in_world[i] == ints[0][i];
  });
}

void OnnxBlob::SetDims(InOnnxWorlds<OnnxDims> in_worlds) {
  dims = std::move(in_worlds);
  has_dims = true;
  for (size_t world = 1; world < kOnnxWorlds; ++world) {
    if (dims[world].size() == dims[0].size()) continue;
    if (IsPlainOnnxWorld(world)) has_dims = false;
    dims[world] = dims[0];
  }
}

bool OnnxBlob::IsFixedDim(size_t i) const {
  return std::all_of(dims.begin(), dims.end(),
                     [&](const OnnxDims& in_world) { return in_world[i] == dims[0][i]; });
}

bool IsRoundedOnnxType(int type) { return type == Proto::FLOAT16 || type == Proto::BFLOAT16; }

std::optional<NarrowFormat> NarrowFormatOf(int type) {
  for (const NarrowPair& pair : kNarrowTypes) {
    if (pair.onnx == type) return pair.format;
  }
  return std::nullopt;
}

int OnnxTypeOfFormat(NarrowFormat format) {
  for (const NarrowPair& pair : kNarrowTypes) {
    if (pair.format == format) return pair.onnx;
  }
  return Proto::UNDEFINED;
}

TensorProto::DataType Caffe2TypeOf(int onnx_type) {
  if (const std::optional<NarrowFormat> format = NarrowFormatOf(onnx_type); format.has_value()) {
    if (!IsNarrowInteger(*format)) return TensorProto::FLOAT;
    return IsNarrowSigned(*format) ? TensorProto::INT8 : TensorProto::UINT8;
  }
  for (const TypePair& pair : kTypes) {
    if (pair.onnx == onnx_type) return pair.caffe2;
  }
  CAFFE_THROW("element type ", OnnxTypeName(onnx_type), " is not supported");
}

int OnnxTypeOf(TensorProto::DataType type) {
  for (const TypePair& pair : kTypes) {
    if (pair.caffe2 == type) return pair.onnx;
  }
  return Proto::UNDEFINED;
}

bool IsOnnxReal(int type) {
  return type == Proto::FLOAT || type == Proto::DOUBLE || IsRoundedOnnxType(type);
}

bool IsOnnxInteger(int type) {
  return (type >= Proto::UINT8 && type <= Proto::INT64) || type == Proto::UINT32 ||
         type == Proto::UINT64;
}

std::shared_ptr<const OnnxContent> ContentOf(const Tensor& tensor) {
  if (tensor.numel() > kMaxOnnxContent) return nullptr;
  auto content = std::make_shared<OnnxContent>();
  if (tensor.IsType<float>()) {
    CopyReals<float>(tensor, content.get());
  } else if (tensor.IsType<double>()) {
    CopyReals<double>(tensor, content.get());
  } else if (tensor.IsType<int64_t>()) {
    CopyInts<int64_t>(tensor, content.get());
  } else if (tensor.IsType<int32_t>()) {
    CopyInts<int32_t>(tensor, content.get());
  } else if (tensor.IsType<int16_t>()) {
    CopyInts<int16_t>(tensor, content.get());
  } else if (tensor.IsType<int8_t>()) {
    CopyInts<int8_t>(tensor, content.get());
  } else if (tensor.IsType<uint8_t>()) {
    CopyInts<uint8_t>(tensor, content.get());
  } else if (tensor.IsType<uint16_t>()) {
    CopyInts<uint16_t>(tensor, content.get());
  } else if (tensor.IsType<uint32_t>()) {
    CopyInts<uint32_t>(tensor, content.get());
  } else if (tensor.IsType<bool>()) {
    CopyInts<bool>(tensor, content.get());
  } else {
    return nullptr;
  }
  content->ints = InAllOnnxWorlds(content->ints[0]);
  content->reals = InAllOnnxWorlds(content->reals[0]);
  return content;
}

Tensor TensorOf(const OnnxContent& content, const OnnxDims& dims, int onnx_type) {
  switch (Caffe2TypeOf(onnx_type)) {
    case TensorProto::FLOAT:
      return Filled<float>(content, dims);
    case TensorProto::DOUBLE:
      return Filled<double>(content, dims);
    case TensorProto::INT64:
      return Filled<int64_t>(content, dims);
    case TensorProto::INT32:
      return Filled<int32_t>(content, dims);
    case TensorProto::INT16:
      return Filled<int16_t>(content, dims);
    case TensorProto::INT8:
      return Filled<int8_t>(content, dims);
    case TensorProto::UINT8:
      return Filled<uint8_t>(content, dims);
    case TensorProto::UINT16:
      return Filled<uint16_t>(content, dims);
    case TensorProto::UINT32:
      return Filled<uint32_t>(content, dims);
    case TensorProto::UINT64:
      return Filled<uint64_t>(content, dims);
    case TensorProto::BOOL:
      return Filled<bool>(content, dims);
    default:
      CAFFE_THROW("a constant of type ", OnnxTypeName(onnx_type), " is not supported");
  }
}

InOnnxWorlds<int64_t> OnnxSymbols::Of(const std::string& name) {
  const std::string key = name.empty() ? absl::StrCat("\n", count_) : name;
  const auto found = numbers_.find(key);
  if (found != numbers_.end()) return found->second;
  // Multiples of 32, which the strides of image models divide, and small, as lengths of sentences are.
  constexpr int64_t kPrimes[] = {7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47};
  const int64_t cycle = count_ / static_cast<int64_t>(std::size(kPrimes));
  const int64_t prime = kPrimes[static_cast<size_t>(count_) % std::size(kPrimes)] + 48 * cycle;
  // Then, beside 1 and 0: large numbers that leave the largest remainder for most small divisors,
  // and powers of 2 that rise or fall with the order of the symbols, so that of each two symbols
  // either is smaller than the other, larger, a factor and a multiple of it in some world. Not more
  // than 2048, so that lists of so many elements are followed.
  constexpr int64_t kPowers = 11;
  const int64_t large = 100800 * (count_ + 1) - 1, power = count_ % kPowers;
  const InOnnxWorlds<int64_t> numbers = {32 * (count_ + 2),
                                         32 * prime,
                                         1,
                                         large,
                                         int64_t{2} << power,
                                         int64_t{1} << (kPowers - power),
                                         0};
  ++count_;
  numbers_[key] = numbers;
  return numbers;
}

std::string OnnxSymbols::NameOf(int64_t first, int64_t second) const {
  for (const auto& [name, numbers] : numbers_) {
    if (numbers[0] == first && numbers[1] == second) return name.starts_with('\n') ? "" : name;
  }
  return "";
}

}  // namespace caffe2rt
