#pragma once
// The one-dimensional transforms of Winograd's algorithm F(4, 3) and their transposes, on vectors or
// floats:
//
//   Y = A^T [(G g) * (B^T d)]        4 results Y of 6 inputs d and 3 taps g
//   dg = G^T [(A dY) * (B^T d)]      the gradient of the taps
//   dd = B [(G g) * (A dY)]          the gradient of the inputs
//
// Each applied to the columns and then to the rows of a tile gives F(4 x 4, 3 x 3). With points 0, +-a,
// +-b and infinity, where a^2 = 1/2 and b^2 = 2, the rows of B^T are the coefficients of the
// polynomials that vanish at all finite points but one, those of A^T are powers of the points, and G
// has the powers divided by the product of differences to the other points.
//
// Source: A. Lavin, S. Gray, Fast Algorithms for Convolutional Neural Networks, 2015.

namespace caffe2rt {

inline constexpr int kWinogradTile = 4;                   // results in a row
inline constexpr int kWinogradTaps = 3;                   // taps in a row
inline constexpr int kWinogradInput = kWinogradTile + 2;  // inputs that they are computed from
inline constexpr int kWinogradPositions = kWinogradInput * kWinogradInput;

namespace internal {
inline constexpr float kA = 0.70710678f, kB = 1.41421356f;
inline constexpr float kA3 = 0.35355339f, kB3 = 2.82842712f;
// One over the products of differences to the other points.
inline constexpr float kPerA = -1 / 1.5f, kPerB = 1 / 6.0f;
}  // namespace internal

// t = B^T d.
template <class Vector>
[[gnu::always_inline]] inline void TransformInput(const Vector (&d)[kWinogradInput],
                                                  Vector (&t)[kWinogradInput]) {
  using internal::kA, internal::kB;
  const Vector even_a = d[4] - 2.0f * d[2], odd_a = d[3] - 2.0f * d[1];
  const Vector even_b = d[4] - 0.5f * d[2], odd_b = d[3] - 0.5f * d[1];
  t[0] = d[0] - 2.5f * d[2] + d[4];
  t[1] = even_a + kA * odd_a;
  t[2] = even_a - kA * odd_a;
  t[3] = even_b + kB * odd_b;
  t[4] = even_b - kB * odd_b;
  t[5] = d[1] - 2.5f * d[3] + d[5];
}

// d = B t.
template <class Vector>
[[gnu::always_inline]] inline void TransformInputBack(const Vector (&t)[kWinogradInput],
                                                      Vector (&d)[kWinogradInput]) {
  using internal::kA, internal::kB;
  const Vector even_a = t[1] + t[2], odd_a = kA * (t[1] - t[2]);
  const Vector even_b = t[3] + t[4], odd_b = kB * (t[3] - t[4]);
  d[0] = t[0];
  d[1] = t[5] - 2.0f * odd_a - 0.5f * odd_b;
  d[2] = -2.5f * t[0] - 2.0f * even_a - 0.5f * even_b;
  d[3] = odd_a + odd_b - 2.5f * t[5];
  d[4] = t[0] + even_a + even_b;
  d[5] = t[5];
}

// y = A^T m.
template <class Vector>
[[gnu::always_inline]] inline void TransformOutput(const Vector (&m)[kWinogradInput],
                                                   Vector (&y)[kWinogradTile]) {
  using internal::kA, internal::kB, internal::kA3, internal::kB3;
  const Vector even_a = m[1] + m[2], odd_a = m[1] - m[2];
  const Vector even_b = m[3] + m[4], odd_b = m[3] - m[4];
  y[0] = m[0] + even_a + even_b;
  y[1] = kA * odd_a + kB * odd_b;
  y[2] = 0.5f * even_a + 2.0f * even_b;
  y[3] = kA3 * odd_a + kB3 * odd_b + m[5];
}

// m = A y.
template <class Vector>
[[gnu::always_inline]] inline void TransformOutputBack(const Vector (&y)[kWinogradTile],
                                                       Vector (&m)[kWinogradInput]) {
  using internal::kA, internal::kB, internal::kA3, internal::kB3;
  const Vector even_a = y[0] + 0.5f * y[2], odd_a = kA * y[1] + kA3 * y[3];
  const Vector even_b = y[0] + 2.0f * y[2], odd_b = kB * y[1] + kB3 * y[3];
  m[0] = y[0];
  m[1] = even_a + odd_a;
  m[2] = even_a - odd_a;
  m[3] = even_b + odd_b;
  m[4] = even_b - odd_b;
  m[5] = y[3];
}

// t = G g.
template <class Vector>
[[gnu::always_inline]] inline void TransformTaps(const Vector& g0, const Vector& g1,
                                                 const Vector& g2, Vector (&t)[kWinogradInput]) {
  using internal::kA, internal::kB, internal::kPerA, internal::kPerB;
  const Vector even_a = (g0 + 0.5f * g2) * kPerA, odd_a = g1 * (kA * kPerA);
  const Vector even_b = (g0 + 2.0f * g2) * kPerB, odd_b = g1 * (kB * kPerB);
  t[0] = g0;
  t[1] = even_a + odd_a;
  t[2] = even_a - odd_a;
  t[3] = even_b + odd_b;
  t[4] = even_b - odd_b;
  t[5] = g2;
}

// g = G^T t.
template <class Vector>
[[gnu::always_inline]] inline void TransformTapsBack(const Vector (&t)[kWinogradInput],
                                                     Vector (&g)[kWinogradTaps]) {
  using internal::kA, internal::kB, internal::kPerA, internal::kPerB;
  const Vector even_a = kPerA * (t[1] + t[2]), odd_a = (kA * kPerA) * (t[1] - t[2]);
  const Vector even_b = kPerB * (t[3] + t[4]), odd_b = (kB * kPerB) * (t[3] - t[4]);
  g[0] = t[0] + even_a + even_b;
  g[1] = odd_a + odd_b;
  g[2] = 0.5f * even_a + 2.0f * even_b + t[5];
}

}  // namespace caffe2rt
