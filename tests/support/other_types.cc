#include "tests/support/other_types.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "caffe2_core/base/enforce.h"

namespace caffe2rt::test {
namespace {

// Larger results may be limits of a type, or wrap.
constexpr double kMost = 1e9;

// Operators whose results depend on the types: on the bits, or because old models have a meaning for one of them.
const std::set<std::string>& TypesThatDiffer() {
  static const auto* const types = new std::set<std::string>{"BitCast", "IndexHash", "Tile"};
  return *types;
}

template <class From, class To>
bool ConvertIf(const Tensor& x, Tensor* y) {
  if (!x.IsType<From>()) return false;
  y->Resize(x.dims());
  To* const to = y->mutable_data<To>();
  if (x.numel() > 0) {
    const From* const from = x.data<From>();
    std::transform(from, from + x.numel(), to, [](From value) { return static_cast<To>(value); });
  }
  return true;
}

template <class T>
bool AppendIf(const Tensor& x, std::vector<double>* values) {
  if (!x.IsType<T>()) return false;
  if (x.numel() > 0) {
    const T* const data = x.data<T>();
    for (int64_t i = 0; i < x.numel(); ++i) values->push_back(static_cast<double>(data[i]));
  }
  return true;
}

// The elements as doubles; none for other types.
std::vector<double> NumbersOf(const Tensor& x) {
  std::vector<double> values;
  (void)(AppendIf<float>(x, &values) || AppendIf<double>(x, &values) ||
         AppendIf<int32_t>(x, &values) || AppendIf<int64_t>(x, &values) ||
         AppendIf<bool>(x, &values));
  return values;
}

// Integers that are sums and products of larger ones may wrap.
bool HasLargeIntegers(const Tensor& x) {
  if (!x.IsType<int32_t>() && !x.IsType<int64_t>()) return false;
  const std::vector<double> values = NumbersOf(x);
  return std::any_of(values.begin(), values.end(),
                     [](double value) { return std::abs(value) > 1000; });
}

template <class Convert>
void ExpectSameAs(const Workspace& ws, const OperatorDef& def,
                  const std::map<std::string, Tensor>& outputs, const Convert& convert) {
  Workspace other;
  bool changed = false;
  for (const std::string& name : def.input()) {
    const Tensor& own = ws.GetBlob(name)->Get<Tensor>();
    Tensor* const tensor = other.CreateBlob(name)->GetMutableTensor(CPU);
    if (convert(own, tensor)) {
      changed = true;
    } else {
      tensor->CopyFrom(own);
    }
  }
  if (!changed) return;
  try {
    other.RunOperatorOnce(def);
  } catch (const EnforceNotMet&) {  // another type is not supported
    return;
  }
  for (const auto& [name, want] : outputs) {
    SCOPED_TRACE("output \"" + name + "\"");
    const Blob* const blob = other.GetBlob(name);
    if (blob == nullptr || !blob->IsTensor(CPU)) continue;
    const Tensor& got = blob->Get<Tensor>();
    EXPECT_EQ(got.dims(), want.dims());
    const std::vector<double> a = NumbersOf(got), b = NumbersOf(want);
    if (a.size() != b.size()) continue;
    for (size_t i = 0; i < a.size(); ++i) {
      if (!(std::abs(a[i]) < kMost && std::abs(b[i]) < kMost)) continue;
      ASSERT_LE(std::abs(a[i] - b[i]), 1e-3 * std::max(1.0, std::abs(b[i]))) << "element " << i;
    }
  }
}

}  // namespace

void ExpectSameInOtherTypes(const Workspace& ws, const OperatorDef& def,
                            const std::map<std::string, Tensor>& outputs) {
  if (TypesThatDiffer().contains(def.type())) return;
  {
    SCOPED_TRACE("with doubles in place of floats");
    ExpectSameAs(ws, def, outputs, ConvertIf<float, double>);
  }
  for (const std::string& name : def.input()) {
    if (HasLargeIntegers(ws.GetBlob(name)->Get<Tensor>())) return;
  }
  {
    SCOPED_TRACE("with int64 in place of int32");
    ExpectSameAs(ws, def, outputs, ConvertIf<int32_t, int64_t>);
  }
  SCOPED_TRACE("with int32 in place of int64");
  ExpectSameAs(ws, def, outputs, ConvertIf<int64_t, int32_t>);
}

}  // namespace caffe2rt::test
