#include "tests/oracle/compare.h"

#include <absl/strings/str_join.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <sstream>
#include <type_traits>

#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/io/blob_serialization.h"
#include "caffe2_core/tensor/data_type.h"
#include "caffe2_core/tensor/int8_tensor.h"

namespace caffe2rt::test {
namespace {

bool IsQuantized(const oracle::Blob& recorded) {
  return recorded.value_case() == oracle::Blob::kInt8;
}

TensorProto ParseTensor(const oracle::Blob& recorded) {
  if (!IsQuantized(recorded) && recorded.value_case() != oracle::Blob::kTensor) {
    throw UnsupportedBlob("blob \"" + recorded.name() + "\" is a " + recorded.opaque());
  }
  TensorProto proto;
  CAFFE_ENFORCE(
      proto.ParseFromString(IsQuantized(recorded) ? recorded.int8().tensor() : recorded.tensor()),
      "recorded blob \"", recorded.name(), "\" is not a TensorProto");
  return proto;
}

// Converts a half-precision number, for comparison with a tolerance.
float HalfToFloat(uint16_t half) {
  const int exponent = (half >> 10) & 31;
  const int mantissa = half & 1023;
  const float sign = (half & 0x8000) != 0 ? -1.f : 1.f;
  if (exponent == 31) return mantissa != 0 ? NAN : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(mantissa), -24);
  return sign * std::ldexp(static_cast<float>(mantissa + 1024), exponent - 25);
}
double Number(float value) { return value; }
double Number(double value) { return value; }
double Number(float16 value) { return HalfToFloat(value.x); }

template <class T>
inline constexpr bool kIsFloat = std::is_floating_point_v<T> || std::is_same_v<T, float16>;

template <class T>
bool Same(const T& got, const T& want, double tolerance) {
  if constexpr (kIsFloat<T>) {
    const double a = Number(got), b = Number(want);
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
    if (std::isinf(a) || std::isinf(b)) return a == b;
    return std::abs(a - b) <= tolerance;
  } else if constexpr (std::is_same_v<T, uint8_t>) {
    return std::abs(int{got} - int{want}) <= tolerance;
  } else {
    return got == want;
  }
}

template <class T>
void Print(std::ostream& out, const T& value) {
  if constexpr (kIsFloat<T>) {
    out << Number(value);
  } else if constexpr (std::is_same_v<T, std::string>) {
    out << '"' << value.substr(0, 40) << '"';
  } else {
    out << +value;
  }
}

template <class T>
std::string CompareElements(const Tensor& got, const Tensor& want, const CompareRules& rules) {
  std::vector<T> a(got.data<T>(), got.data<T>() + got.numel());
  std::vector<T> b(want.data<T>(), want.data<T>() + want.numel());
  double tolerance = 0;
  if constexpr (std::is_same_v<T, uint8_t>) {
    // Only records of quantized tensors have a tolerance for integers.
    if (rules.quantized && !b.empty())
      tolerance = rules.rtol * *std::max_element(b.begin(), b.end());
  }
  if constexpr (kIsFloat<T>) {
    double largest = 0;
    for (const T& value : b) {
      if (std::isfinite(Number(value))) largest = std::max(largest, std::abs(Number(value)));
    }
    tolerance = rules.rtol * largest;
  }
  if constexpr (!std::is_same_v<T, float16>) {
    if (rules.any_order) {
      std::sort(a.begin(), a.end());
      std::sort(b.begin(), b.end());
    }
  }
  size_t first = b.size(), wrong = 0;
  double off = 0;
  for (size_t i = 0; i < b.size(); ++i) {
    if (Same<T>(a[i], b[i], tolerance)) continue;
    if (wrong++ == 0) first = i;
    if constexpr (kIsFloat<T>) off = std::max(off, std::abs(Number(a[i]) - Number(b[i])));
  }
  if (wrong == 0) return "";
  std::ostringstream out;
  out << wrong << " of " << b.size() << " values differ, first [" << first << "]: got ";
  Print(out, a[first]);
  out << ", want ";
  Print(out, b[first]);
  if constexpr (kIsFloat<T>)
    out << " (largest difference " << off << ", allowed " << tolerance << ")";
  return out.str();
}

struct Moments {
  double mean = 0, deviation = 0;
};
Moments MomentsOf(const Tensor& tensor) {
  const float* x = tensor.data<float>();
  const auto n = static_cast<double>(tensor.numel());
  double sum = 0, squares = 0;
  for (int64_t i = 0; i < tensor.numel(); ++i) {
    sum += x[i];
    squares += double{x[i]} * x[i];
  }
  const double mean = sum / n;
  return {mean, std::sqrt(std::max(0.0, squares / n - mean * mean))};
}

// The means of samples of one distribution differ by about the standard deviation divided by the
// square root of the sample size; eight times as much is allowed. Small samples are not compared.
std::string CompareMoments(const Tensor& got, const Tensor& want) {
  constexpr int64_t kFew = 100;
  if (want.numel() < kFew || !want.IsType<float>()) return "";
  const Moments a = MomentsOf(got), b = MomentsOf(want);
  const double allowed = 8 * b.deviation / std::sqrt(static_cast<double>(want.numel()));
  if (std::abs(a.mean - b.mean) <= allowed && std::abs(a.deviation - b.deviation) <= allowed) {
    return "";
  }
  return MakeString("mean and deviation are ", a.mean, " and ", a.deviation, ", want ", b.mean,
                    " and ", b.deviation);
}

std::string CompareValues(const Tensor& got, const Tensor& want, const CompareRules& rules) {
  switch (TypeMetaToDataType(want.dtype())) {
    case TensorProto::FLOAT:
      return CompareElements<float>(got, want, rules);
    case TensorProto::DOUBLE:
      return CompareElements<double>(got, want, rules);
    case TensorProto::FLOAT16:
      return CompareElements<float16>(got, want, rules);
    case TensorProto::INT32:
      return CompareElements<int32_t>(got, want, rules);
    case TensorProto::INT64:
      return CompareElements<int64_t>(got, want, rules);
    case TensorProto::UINT8:
      return CompareElements<uint8_t>(got, want, rules);
    case TensorProto::INT8:
      return CompareElements<int8_t>(got, want, rules);
    case TensorProto::UINT16:
      return CompareElements<uint16_t>(got, want, rules);
    case TensorProto::INT16:
      return CompareElements<int16_t>(got, want, rules);
    case TensorProto::BOOL:
      return CompareElements<bool>(got, want, rules);
    case TensorProto::STRING:
      return CompareElements<std::string>(got, want, rules);
    default:
      return "the recorded type " + DataTypeName(want.dtype()) + " cannot be compared";
  }
}

Tensor TensorOf(const oracle::Blob& recorded) {
  const TensorProto proto = ParseTensor(recorded);
  Tensor tensor(CPU);
  if (proto.data_type() == TensorProto::UNDEFINED) {
    tensor.Resize(std::vector<int64_t>(proto.dims().begin(), proto.dims().end()));
  } else {
    TensorDeserializer().Deserialize(proto, &tensor);
  }
  return tensor;
}

// Compares what is stored besides the tensor.
std::string CompareKind(const oracle::Blob& recorded, const Blob& blob) {
  if (!IsQuantized(recorded)) {
    return blob.IsType<Tensor>() ? "" : MakeString("got a ", blob.TypeName(), ", want a tensor");
  }
  if (!blob.IsType<Int8TensorCPU>()) {
    return MakeString("got a ", blob.TypeName(), ", want a quantized tensor");
  }
  const auto& got = blob.Get<Int8TensorCPU>();
  const auto scale = static_cast<float>(recorded.int8().scale());
  if (got.scale == scale && got.zero_point == recorded.int8().zero_point()) return "";
  return MakeString("got scale ", got.scale, " and zero point ", got.zero_point, ", want ", scale,
                    " and ", recorded.int8().zero_point());
}

}  // namespace

std::string DimsText(const std::vector<int64_t>& dims) {
  return MakeString('[', absl::StrJoin(dims, ", "), ']');
}

void MakeBlob(const oracle::Blob& recorded, Workspace* ws) {
  if (IsQuantized(recorded)) {
    auto* value = ws->CreateBlob(recorded.name())->GetMutable<Int8TensorCPU>();
    value->scale = static_cast<float>(recorded.int8().scale());
    value->zero_point = recorded.int8().zero_point();
    value->t = TensorOf(recorded);
    return;
  }
  *ws->CreateBlob(recorded.name())->GetMutableTensor(CPU) = TensorOf(recorded);
}

TensorShape ShapeOfRecord(const oracle::Blob& recorded) {
  if (!IsQuantized(recorded) && recorded.value_case() != oracle::Blob::kTensor) {
    return UnknownShape();
  }
  const TensorProto proto = ParseTensor(recorded);
  return CreateTensorShape(std::vector<int64_t>(proto.dims().begin(), proto.dims().end()),
                           proto.data_type());
}

std::string CompareBlob(const oracle::Blob& recorded, const Workspace& ws,
                        const CompareRules& given) {
  CompareRules rules = given;
  rules.quantized = IsQuantized(recorded);
  const std::string subject = "output \"" + recorded.name() + "\": ";
  if (!ws.HasBlob(recorded.name())) return subject + "is missing";
  if (recorded.value_case() == oracle::Blob::kOpaque) return "";
  const Tensor want = TensorOf(recorded);
  const Blob& blob = *ws.GetBlob(recorded.name());
  const std::string difference_of_kind = CompareKind(recorded, blob);
  if (!difference_of_kind.empty()) return subject + difference_of_kind;
  const Tensor& got = *FindTensor(blob);
  // In the original a tensor that was never written has shape [0].
  const std::vector<int64_t> dims = got.IsShaped() ? got.dims() : std::vector<int64_t>{0};
  if (rules.dims && dims != want.dims()) {
    return subject + "got dims " + DimsText(dims) + ", want " + DimsText(want.dims());
  }
  if (!want.dtype().IsSet()) return "";
  if (got.dtype() != want.dtype()) {
    return subject + "got type " + got.dtype().name() + ", want " + want.dtype().name();
  }
  if (!rules.dims) return "";
  if (!rules.values) {
    const std::string difference = rules.moments ? CompareMoments(got, want) : "";
    return difference.empty() ? "" : subject + difference;
  }
  const std::string difference = CompareValues(got, want, rules);
  return difference.empty() ? "" : subject + difference;
}

}  // namespace caffe2rt::test
