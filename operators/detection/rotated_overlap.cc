#include "operators/detection/rotated_overlap.h"

#include <cmath>
#include <limits>

namespace caffe2rt {

namespace {

constexpr double kRadiansPerDegree = 0.017453292519943295;

struct Point {
  double x, y;
};

// A convex polygon. Each of the four sides of a box that clips a box adds at most one point.
struct Polygon {
  Point points[8];
  int count = 0;

  void Add(Point point) {
    if (count < 8) points[count++] = point;
  }
};

// Keeps the part of the polygon where x * normal.x + y * normal.y <= limit.
Polygon Clip(const Polygon& polygon, Point normal, double limit) {
  Polygon clipped;
  for (int i = 0; i < polygon.count; ++i) {
    const Point from = polygon.points[i], to = polygon.points[(i + 1) % polygon.count];
    const double before = from.x * normal.x + from.y * normal.y - limit;
    const double after = to.x * normal.x + to.y * normal.y - limit;
    if (before <= 0) clipped.Add(from);
    if ((before < 0 && after > 0) || (before > 0 && after < 0)) {
      const double share = before / (before - after);
      clipped.Add({from.x + share * (to.x - from.x), from.y + share * (to.y - from.y)});
    }
  }
  return clipped;
}

double AreaOf(const Polygon& polygon) {
  double twice = 0;
  for (int i = 1; i + 1 < polygon.count; ++i) {
    const Point a = polygon.points[i], b = polygon.points[i + 1], o = polygon.points[0];
    twice += (a.x - o.x) * (b.y - o.y) - (b.x - o.x) * (a.y - o.y);
  }
  return std::abs(twice) / 2;
}

// The area of the intersection. In the system of `b`, its sides are parallel to the axes.
double CommonArea(const float* a, const float* b) {
  if (!(a[2] > 0 && a[3] > 0 && b[2] > 0 && b[3] > 0)) return 0;
  const double dx = double{a[0]} - b[0], dy = double{a[1]} - b[1];
  const double reach = std::hypot(a[2], a[3]) / 2 + std::hypot(b[2], b[3]) / 2;
  if (dx * dx + dy * dy > reach * reach) return 0;
  const double angle = b[4] * kRadiansPerDegree, turn = (double{a[4]} - b[4]) * kRadiansPerDegree;
  const Point center{dx * std::cos(angle) - dy * std::sin(angle),
                     dx * std::sin(angle) + dy * std::cos(angle)};
  const double half_w = a[2] / 2.0, half_h = a[3] / 2.0;
  Polygon polygon;
  const Point corners[] = {
      {-half_w, -half_h}, {half_w, -half_h}, {half_w, half_h}, {-half_w, half_h}};
  for (const Point corner : corners) {
    polygon.Add({center.x + corner.x * std::cos(turn) + corner.y * std::sin(turn),
                 center.y - corner.x * std::sin(turn) + corner.y * std::cos(turn)});
  }
  const Point normals[] = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}};
  for (const Point normal : normals) {
    polygon = Clip(polygon, normal, (normal.x != 0 ? b[2] : b[3]) / 2.0);
  }
  return AreaOf(polygon);
}

}  // namespace

float OverlapOfRotatedBoxes(const float* a, const float* b) {
  for (int i = 0; i < 5; ++i) {
    if (!std::isfinite(a[i]) || !std::isfinite(b[i])) {
      return std::numeric_limits<float>::quiet_NaN();
    }
  }
  const double common = CommonArea(a, b);
  return static_cast<float>(common / (double{a[2]} * a[3] + double{b[2]} * b[3] - common));
}

}  // namespace caffe2rt
