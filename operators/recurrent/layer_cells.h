#pragma once
// The cells of ONNX's recurrent layers, for one row of the batch: First uses the products of the
// hidden state with R; Second computes the new state. GRU may need a second product between them.
//
//   x       [gates]: the products of the input, with biases
//   gates   [gates]: the products of the hidden state; First replaces them by its results
//   hidden, cell  [hidden]: the state
//   row     [2 * hidden]: scratch; the second product reads its first half

#include <algorithm>
#include <cstdint>

#include "operators/recurrent/layer_activations.h"
#include "operators/recurrent/layer_plan.h"

namespace caffe2rt {

struct LayerCell {
  int64_t hidden_size = 0;
  const LayerActivation* functions = nullptr;
  float clip = 0;
  bool input_forget = false;
  bool linear_before_reset = false;
  const float* peepholes = nullptr;  // of the gates i, o, f; or null
  const float* last_bias = nullptr;  // of the hidden state in the last gate; or null

  // x[i] = f(limited x[i])
  void Activate(int function, int64_t n, float* x) const {
    if (clip > 0) {
      for (int64_t i = 0; i < n; ++i) x[i] = std::min(std::max(x[i], -clip), clip);
    }
    ApplyLayerActivation(functions[function], n, x);
  }
};

inline void AddRow(int64_t n, const float* x, float* y) {
  for (int64_t i = 0; i < n; ++i) y[i] += x[i];
}
inline void AddProducts(int64_t n, const float* a, const float* b, float* y) {
  for (int64_t i = 0; i < n; ++i) y[i] += a[i] * b[i];
}

struct RnnCell {
  static constexpr int kGates = 1, kFunctions = 1;
  static constexpr const char* kDefaultFunctions[] = {"Tanh"};
  static constexpr bool kHasCell = false, kSecondProduct = false;
  static bool AddsLastBias(const LayerArguments&) { return false; }
  static int FirstGates(const LayerArguments&) { return kGates; }

  static void First(const LayerCell&, const float*, float*, const float*, float*, float*) {}
  static void Second(const LayerCell& c, const float* x, float* gates, float* hidden, float*) {
    AddRow(c.hidden_size, x, gates);
    c.Activate(0, c.hidden_size, gates);
    std::copy_n(gates, c.hidden_size, hidden);
  }
};

struct LstmCell {
  static constexpr int kGates = 4, kFunctions = 3;
  static constexpr const char* kDefaultFunctions[] = {"Sigmoid", "Tanh", "Tanh"};
  static constexpr bool kHasCell = true, kSecondProduct = false;
  static bool AddsLastBias(const LayerArguments&) { return false; }
  static int FirstGates(const LayerArguments&) { return kGates; }

  // Gates i, o, f, c.
  static void First(const LayerCell& c, const float* x, float* gates, const float*, float* cell,
                    float* row) {
    const int64_t h = c.hidden_size;
    float *i = gates, *o = gates + h, *f = gates + 2 * h, *next = gates + 3 * h;
    AddRow(4 * h, x, gates);
    if (c.peepholes == nullptr && !c.input_forget) {
      c.Activate(0, 3 * h, gates);
    } else {
      if (c.peepholes != nullptr) {
        AddProducts(h, c.peepholes, cell, i);
        AddProducts(h, c.peepholes + 2 * h, cell, f);
      }
      c.Activate(0, h, i);
      if (c.input_forget) {
        for (int64_t k = 0; k < h; ++k) f[k] = 1.f - i[k];
      } else {
        c.Activate(0, h, f);
      }
    }
    c.Activate(1, h, next);
    for (int64_t k = 0; k < h; ++k) cell[k] = f[k] * cell[k] + i[k] * next[k];
    if (c.peepholes != nullptr) AddProducts(h, c.peepholes + h, cell, o);
    if (c.peepholes != nullptr || c.input_forget) c.Activate(0, h, o);
    std::copy_n(cell, h, row);
    c.Activate(2, h, row);
  }
  static void Second(const LayerCell& c, const float*, float* gates, float* hidden, float* row) {
    const float* o = gates + c.hidden_size;
    for (int64_t k = 0; k < c.hidden_size; ++k) hidden[k] = o[k] * row[k];
  }
};

struct GruCell {
  static constexpr int kGates = 3, kFunctions = 2;
  static constexpr const char* kDefaultFunctions[] = {"Sigmoid", "Tanh"};
  static constexpr bool kHasCell = false, kSecondProduct = true;
  static bool AddsLastBias(const LayerArguments& a) { return a.linear_before_reset; }
  static int FirstGates(const LayerArguments& a) { return a.linear_before_reset ? 3 : 2; }

  // Gates z, r, h.
  static void First(const LayerCell& c, const float* x, float* gates, const float* hidden, float*,
                    float* row) {
    const int64_t h = c.hidden_size;
    float* r = gates + h;
    AddRow(2 * h, x, gates);
    c.Activate(0, 2 * h, gates);
    if (!c.linear_before_reset) {
      for (int64_t k = 0; k < h; ++k) row[k] = r[k] * hidden[k];
    } else {
      float* next = gates + 2 * h;
      if (c.last_bias != nullptr) AddRow(h, c.last_bias, next);
      for (int64_t k = 0; k < h; ++k) next[k] *= r[k];
    }
  }
  static void Second(const LayerCell& c, const float* x, float* gates, float* hidden, float*) {
    const int64_t h = c.hidden_size;
    const float* z = gates;
    float* next = gates + 2 * h;
    AddRow(h, x + 2 * h, next);
    c.Activate(1, h, next);
    for (int64_t k = 0; k < h; ++k) hidden[k] = (1.f - z[k]) * next[k] + z[k] * hidden[k];
  }
};

}  // namespace caffe2rt
