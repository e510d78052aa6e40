// In which precision a fully connected layer is fastest: estimated nanoseconds of one row of X.

#include <algorithm>

#include "caffe2_core/base/isa.h"
#include "caffe2_core/graph/passes/matmul_precisions.h"
#include "operators/primitives/reduced_gemm.h"

namespace caffe2rt {

namespace {

// Measured on one core of a Zen 4. Only their ratios matter.
struct FCRates {
  double row_ns;      // for each row
  double input_ns;    // for each element of a row of X: its conversion
  double output_ns;   // for each element of a row of Y
  double product_ns;  // for each product
  int64_t columns;    // that are multiplied together: the last ones may be padding
};
constexpr FCRates kFloatRates = {2, 0, 0.05, 0.0174, 16};
constexpr FCRates kBf16Rates = {5, 0.05, 0.05, 0.0087, 32};
constexpr FCRates kVnniRates = {25, 0.1, 0.2, 0.0044, 32};
// Instruction sets without VNNI.
constexpr FCRates kWordRates = {25, 0.15, 0.3, 0.0125, 32};

// A layer must be faster by more than the estimates may be wrong.
constexpr double kMargin = 0.9;

double Nanoseconds(const FCRates& rates, int64_t k, int64_t n) {
  const double inputs = static_cast<double>(k);
  const double outputs =
      static_cast<double>((n - 1) / rates.columns + 1) * static_cast<double>(rates.columns);
  return rates.row_ns + inputs * rates.input_ns + outputs * rates.output_ns +
         inputs * outputs * rates.product_ns;
}

// With `everywhere`, for the machine where bytes gain least.
const FCRates& ByteRates(bool everywhere) {
  const bool vnni =
      !everywhere && ReducedGemm(Precision::kInt8, 1, 1).kernel() == ReducedKernel::kVnni;
  return vnni ? kVnniRates : kWordRates;
}

}  // namespace

std::string WhyNoProductsIn(Precision precision) {
  switch (precision) {
    case Precision::kBfloat16:
      return WhyNoBf16Products();
    case Precision::kInt8:
      return CpuIsa() == Isa::kPlain ? "the instruction set in use is not AVX2 or AVX-512" : "";
    default:
      return "";
  }
}

Precision FastestFCPrecision(int64_t k, int64_t n, Precision least, bool deterministic) {
  const bool everywhere = deterministic && least == Precision::kInt8;
  Precision fastest = Precision::kFloat32;
  double least_ns = kMargin * Nanoseconds(kFloatRates, k, n);
  const auto consider = [&](Precision precision, const FCRates& rates) {
    const double ns = Nanoseconds(rates, k, n);
    if (least < precision || ns >= least_ns) return;
    fastest = precision;
    least_ns = ns;
  };
  if (!everywhere && WhyNoProductsIn(Precision::kBfloat16).empty()) {
    consider(Precision::kBfloat16, kBf16Rates);
  }
  const bool has_bytes = everywhere || WhyNoProductsIn(Precision::kInt8).empty();
  if (has_bytes && k <= ReducedGemm::kMaxByteTerms) {
    consider(Precision::kInt8, ByteRates(everywhere));
  }
  return fastest;
}

}  // namespace caffe2rt
