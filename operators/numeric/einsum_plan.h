#pragma once
// The loops of an einsum equation over given shapes.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "caffe2_core/graph/argument_spec.h"

namespace caffe2rt {

inline constexpr int kMaxEinsumInputs = 16;

inline constexpr ArgumentSpec<std::string> kEinsumEquation{
    .name = "equation",
    .doc =
        "a letter for each axis of each input, separated by commas, then -> and those of the "
        "output "
        "(default: the letters that occur once, sorted); ... stands for axes that are broadcast",
    .required = true};

struct EinsumLoop {
  int64_t size = 1;
  std::array<int64_t, kMaxEinsumInputs> strides{};  // of each input; 0: does not have the axis
};

// A batch of matrix products: loops over A as [batch, m, k], over B as [batch, k, n], and over Y, in
// the order of its axes, in the product [batch, m, n].
struct EinsumProduct {
  int64_t batch = 1, m = 1, n = 1, k = 1;
  std::vector<EinsumLoop> a_loops, b_loops, y_loops;
};

struct EinsumPlan {
  std::vector<int64_t> y_dims;
  std::vector<EinsumLoop> outer, inner;  // of the output, and of the sum
  int64_t sum_size = 1;                  // terms of each sum
  bool is_product = false;
  EinsumProduct product;
};

// THROWS if the equation is invalid or does not fit the shapes.
EinsumPlan PlanEinsum(const std::string& equation, const std::vector<std::vector<int64_t>>& shapes);

}  // namespace caffe2rt
