#pragma once

// Matrix multiplication, in a form that covers all functions of the gemm family.

#include "cublas/context.h"

namespace fakecuda {

struct Matrix {
  Element type = Element::kFloat;
  const void* data = nullptr;
  int ld = 0;
  int64_t stride = 0;  // from one matrix of a batch to the next, in elements

  double At(const void* base, int row, int column) const {
    return Load(type, base, row + static_cast<int64_t>(column) * ld);
  }
};

struct Product {
  cublasHandle_t handle;
  const char* name;
  cublasOperation_t op_a, op_b;
  int m, n, k;
  Element scalar_type;
  const void* alpha;
  Matrix a, b;
  const void* beta;
  Matrix c;
  int batch = 1;
  bool listed = false;  // `data` of each matrix is an array of pointers, one per batch
};

// Checks the arguments and computes C = alpha * op(A) * op(B) + beta * C on the handle's stream.
cublasStatus_t Multiply(const Product& product);

}  // namespace fakecuda
