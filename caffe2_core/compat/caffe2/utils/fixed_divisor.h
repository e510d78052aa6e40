#pragma once
// FixedDivisor: repeated division by the same number.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace caffe2 {

template <class T>
class FixedDivisor {
 public:
  FixedDivisor() = default;
  explicit FixedDivisor(T d) : d_(d) {}
  T d() const { return d_; }
  T Div(T n) const { return n / d_; }
  T Mod(T n) const { return n % d_; }
  void DivMod(T n, T* q, T* r) const {
    *q = n / d_;
    *r = n % d_;
  }

 private:
  T d_ = 1;
};

}  // namespace caffe2
