#pragma once
// A softmax over the classes of a tree (Morin and Bengio, Hierarchical Probabilistic Neural Network
// Language Model). Each inner node has a softmax over its entries, with a row of the weights for
// each entry. The probability of a class is the product of those on its path. This header is what
// HSoftmax and HSoftmaxSearch share.

#include <cstdint>

namespace caffe2rt {

class CPUContext;
class Tensor;

// A probability below it counts as it.
inline constexpr float kLeastNodeProbability = 1e-20f;

struct HSoftmaxSizes {
  int64_t samples,
      columns;   // of X: [samples, ...] with `columns` elements in a row; a vector is a row
  int64_t rows;  // of W and b
};
// THROWS unless X, W [N, *] and b [N] are float tensors, and a row of W has as many elements as one
// of X.
HSoftmaxSizes CheckHSoftmaxInputs(const Tensor& X, const Tensor& W, const Tensor& b);

// logits [length] = w [length, columns] x + b, probabilities [length] = their softmax.
void ComputeNodeProbabilities(CPUContext& context, int64_t length, int64_t columns, const float* w,
                              const float* b, const float* x, float* logits, float* probabilities);

}  // namespace caffe2rt
