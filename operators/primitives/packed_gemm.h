#pragma once
// Multiplication by a matrix that is packed once and used many times: weights of fully connected
// layers, keys and values of attention.
//
//   std::vector<float> packed(PackedFloats(k, n));
//   PackMatrix(/*transposed=*/true, k, n, w, k, packed.data());      // w is [n, k]
//   MultiplyPacked({.m = m, .n = n, .k = k, .a = x, .lda = k, .b = packed.data(), .bias = bias,
//                   .activation = gelu, .c = y, .ldc = n});          // y = gelu(x w^T + bias)
//
// Packed form of B [k, n]: panels of PanelWidth() columns; the last panel is filled up with zeros.
// A panel holds its rows one after another. The width depends on the instruction set.
//
// Each element of C is one sum over k in ascending order, so results do not depend on the other
// sizes or on how threads divide the work.

#include <cstdint>

#include "operators/primitives/activation.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

// Columns of a panel.
int PanelWidth();
// The size of the packed form. THROWS if it overflows.
int64_t PackedFloats(int64_t k, int64_t n);

// Packs B [k, n], given as `b` with rows that are `ldb` elements apart, or, if `transposed`, given
// as its transpose [n, k].
void PackMatrix(bool transposed, int64_t k, int64_t n, const float* b, int64_t ldb, float* packed);

// The inverse of PackMatrix, bit for bit: writes B to `b`.
void UnpackMatrix(bool transposed, int64_t k, int64_t n, const float* packed, int64_t ldb,
                  float* b);

struct PackedProduct {
  int64_t m = 0, n = 0, k = 0;
  const float* a = nullptr;  // [m, k], rows `lda` elements apart
  int64_t lda = 0;
  const float* b = nullptr;     // the packed form of a matrix [k, n]
  const float* bias = nullptr;  // [n]; may be null
  Activation activation = {};
  bool sum = false;    // whether the values that C has before are added
  float* c = nullptr;  // [m, n], rows `ldc` elements apart
  int64_t ldc = 0;
};

// C = activation(A B + bias), or activation(A B + bias + C), on the calling thread. Sizes may be 0. REQUIRES: C overlaps no input.
void MultiplyPacked(const PackedProduct& product);

// The same. Threads divide the rows or the panels, if there is enough work.
void MultiplyPackedInParallel(const PackedProduct& product);

}  // namespace caffe2rt
#pragma GCC visibility pop
