#pragma once
// Multiplication of floats by a matrix of weights that is packed once in bf16 or in signed bytes.
//
//   const ReducedGemm gemm(Precision::kInt8, k, n);
//   gemm.Pack(/*transposed=*/true, w, k, form);                    // w is [n, k]; form: gemm.nbytes()
//   gemm.Multiply({.m = m, .a = x, .lda = k, .b = form, .bias = bias, .c = y, .ldc = n}, scratch);
//
// bf16: A and B are rounded to the nearest bfloat16, ties to even. Products are added in float, two
// by two, in ascending order. Numbers below the smallest normal one count as 0.
//
// int8: each column of B is quantized to q = round(b / scale), with scale = max |b| / 127. Each row
// of A is quantized when it is multiplied, to bytes 0 to 255: with low = min(0, a) and
// high = max(0, a) of the row, scale = high / 255 - low / 255 and zero = round(-low / scale),
// q = round(a * (1 / scale)) + zero. The sums of bytes are exact, so results have the same bits on every
// instruction set before the activation. There are no limits of pairs: instruction sets without
// VNNI multiply numbers of 16 bits. A row of A or a column of B with a number that is not finite
// makes the row or column of C NaN.
//
// An element of C depends on its row of A and its column of B alone, not on the other sizes or on how
// threads divide the work.

#include <cstddef>
#include <cstdint>
#include <string>

#include "caffe2_core/graph/precision.h"
#include "operators/primitives/activation.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

// Instructions with which a matrix of some precision is multiplied.
enum class ReducedKernel : uint8_t {
  kBf16,         // AVX512_BF16
  kVnni,         // bytes, AVX512_VNNI
  kWordsAvx512,  // bytes as words of 16 bits
  kWordsAvx2,
  kWordsPlain,
};
// Such as "vnni".
const char* ReducedKernelName(ReducedKernel kernel);

// Why this machine, within the limit of CAFFE2RT_ISA, does not multiply bf16; empty if it does.
std::string WhyNoBf16Products();

struct ReducedProduct {
  int64_t m = 0;
  const float* a = nullptr;  // [m, k], rows `lda` elements apart
  int64_t lda = 0;
  const void* b = nullptr;      // the packed form; its content may be any
  const float* bias = nullptr;  // [n]; may be null
  Activation activation = {};
  float* c = nullptr;  // [m, n], rows `ldc` elements apart
  int64_t ldc = 0;
};

// Plain values. Thread safe.
class ReducedGemm {
 public:
  // A sum of more products of bytes may not fit into 32 bits.
  static constexpr int64_t kMaxByteTerms = 65536;

  ReducedGemm() = default;
  // REQUIRES: kBfloat16, and WhyNoBf16Products() is empty, or kInt8, and k is at most kMaxByteTerms.
  // THROWS if the sizes overflow.
  ReducedGemm(Precision precision, int64_t k, int64_t n);
  // With certain instructions, for tests. REQUIRES: the machine has them.
  ReducedGemm(ReducedKernel kernel, int64_t k, int64_t n);

  ReducedKernel kernel() const { return kernel_; }
  int64_t k() const { return k_; }
  int64_t n() const { return n_; }
  // Columns of a panel of the packed form.
  int64_t width() const;
  // The size of the packed form, a multiple of 64.
  size_t nbytes() const { return nbytes_; }

  // Packs B [k, n], given as `b` with rows that are `ldb` elements apart, or, if `transposed`, given
  // as its transpose [n, k]. REQUIRES: `form` is aligned to 64 bytes.
  void Pack(bool transposed, const float* b, int64_t ldb, void* form) const;

  // Scratch memory of a thread that multiplies `m` rows.
  int64_t ScratchFloats(int64_t m) const;
  // C = activation(A B + bias), on the calling thread. Sizes may be 0. REQUIRES: C overlaps no input;
  // `scratch` is aligned to 64 bytes.
  void Multiply(const ReducedProduct& product, float* scratch) const;

  // The number of threads that are worth using, at most `threads`.
  int Pieces(int64_t m, int threads) const;
  // The part of C that one of `pieces` threads computes.
  void MultiplyPiece(const ReducedProduct& product, int piece, int pieces, float* scratch) const;

 private:
  void MultiplyColumns(const ReducedProduct& product, int64_t first, int64_t last,
                       float* scratch) const;

  ReducedKernel kernel_ = ReducedKernel::kWordsPlain;
  int64_t k_ = 0, n_ = 0;
  int64_t groups_ = 0;  // of adjacent k that are multiplied together
  size_t nbytes_ = 0;
};

}  // namespace caffe2rt
#pragma GCC visibility pop
