#pragma once
// The kernel of MultiHeadAttention: for each batch item and head,
//   Y = softmax(scale * Q K^T + mask) V
// with Q [queries, size], K [keys, size], V [keys, value_size], mask [queries, keys].
//
// Operands are addressed by strides, so each can be a part of a larger tensor. A few rows of scores
// exist at a time and stay in the cache. Rows of Y do not depend on each other; the weights of a row
// are NaN if its scores contain a NaN or +infinity, or only -infinity.

#include <cstdint>

namespace caffe2rt {

struct AttentionShape {
  int64_t batch = 0, heads = 0, queries = 0, keys = 0;
  int64_t size = 0, value_size = 0;  // of a head
};

// Distances in elements. Elements of a row are adjacent. A distance of 0 broadcasts.
struct AttentionSteps {
  int64_t batch = 0, head = 0, row = 0;
};

struct AttentionTask {
  AttentionShape shape;
  const float* q = nullptr;
  const float* k = nullptr;
  const float* v = nullptr;
  AttentionSteps q_steps, k_steps, v_steps;
  float scale = 1;
  // Whether queries, keys, values and weights are rounded to bf16. Their products are added in float.
  // REQUIRES: WhyNoBf16Products() (primitives/reduced_gemm.h) is empty.
  bool bf16 = false;
  bool nan_to_zero = false;     // whether weights that are NaN become 0
  const float* mask = nullptr;  // may be null
  AttentionSteps mask_steps;
  int64_t mask_key_step = 0;  // 1, or 0: one number for the whole row
  float* y = nullptr;
  AttentionSteps y_steps;
};

// How the work is divided: an item is one head of one batch item, or a part of its queries.
struct AttentionItems {
  int64_t parts = 1;  // of the queries of a head
  int64_t count = 0;  // batch * heads * parts
};
AttentionItems DivideAttention(const AttentionShape& shape, int threads);

// The scratch memory of one thread, in floats. THROWS if the size overflows.
int64_t AttentionScratch(const AttentionShape& shape, bool bf16);

// Computes the items [first, last) on the calling thread. REQUIRES: keys, size and value_size are
// above 0; `scratch` has AttentionScratch(shape, task.bf16) floats.
void ComputeAttention(const AttentionTask& task, const AttentionItems& items, int64_t first,
                      int64_t last, float* scratch);

}  // namespace caffe2rt
