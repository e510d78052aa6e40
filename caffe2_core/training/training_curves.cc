// The curves of a log, as SVG.

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "caffe2_core/base/text.h"
#include "caffe2_core/graph/drawing/markup.h"
#include "caffe2_core/training/training_log.h"

namespace caffe2rt {
namespace {

constexpr int kWidth = 720, kPanel = 220, kLeft = 60, kTop = 40, kGap = 50;
// Colours of Okabe and Ito, which people with colour blindness can tell apart.
constexpr const char* kTrainColour = "#0072b2";
constexpr const char* kTestColour = "#d55e00";

using Points = std::vector<std::pair<double, double>>;

struct Curve {
  const char* name;
  const char* colour;
  std::optional<double> LogLine::*value;
};

struct Panel {
  const char* title;
  Curve train, test;
};
constexpr Panel kPanels[] = {{"loss",
                              {"training", kTrainColour, &LogLine::loss},
                              {"test", kTestColour, &LogLine::test_loss}},
                             {"accuracy",
                              {"training", kTrainColour, &LogLine::accuracy},
                              {"test", kTestColour, &LogLine::test_accuracy}}};

Points PointsOf(const Curve& curve, const std::vector<LogLine>& lines) {
  Points points;
  for (const LogLine& line : lines) {
    const std::optional<double>& value = line.*curve.value;
    if (value.has_value() && std::isfinite(*value))
      points.emplace_back(static_cast<double>(line.iteration), *value);
  }
  return points;
}

class CurveDrawing {
 public:
  explicit CurveDrawing(const std::vector<LogLine>& lines) : lines_(lines) {
    for (const LogLine& line : lines) last_ = std::max(last_, static_cast<double>(line.iteration));
  }

  void Draw(const Panel& panel) {
    const Points train = PointsOf(panel.train, lines_), test = PointsOf(panel.test, lines_);
    if (train.empty() && test.empty()) return;
    low_ = INFINITY;
    high_ = -INFINITY;
    for (const Points* points : {&train, &test}) {
      for (const auto& point : *points) {
        low_ = std::min(low_, point.second);
        high_ = std::max(high_, point.second);
      }
    }
    if (low_ == high_) high_ = low_ + 1;
    Axes(panel.title);
    Add(train, panel.train);
    Add(test, panel.test);
    top_ += kPanel + kGap;
  }

  int height() const { return top_; }
  const std::string& body() const { return body_; }

 private:
  double X(double iteration) const { return kLeft + iteration / last_ * (kWidth - kLeft - 20); }
  double Y(double value) const { return top_ + kPanel * (high_ - value) / (high_ - low_); }

  void Axes(const char* title) {
    absl::StrAppend(&body_, "<text class=\"h\" x=\"", kLeft, "\" y=\"", top_ - 8, "\">", title,
                    "</text>\n<path class=\"a\" d=\"M", kLeft, " ", top_, "V", top_ + kPanel, "H",
                    kWidth - 20, "\"/>\n");
    constexpr int kTicks = 4;
    for (int i = 0; i <= kTicks; ++i) {
      const double value = low_ + (high_ - low_) * i / kTicks;
      absl::StrAppend(&body_, "<text class=\"n\" x=\"", kLeft - 6, "\" y=\"",
                      FixedText(Y(value) + 4, 1), "\">", FixedText(value, 3), "</text>\n");
      const double iteration = std::round(last_ * i / kTicks);
      absl::StrAppend(&body_, "<text class=\"m\" x=\"", FixedText(X(iteration), 1), "\" y=\"",
                      top_ + kPanel + 16, "\">", FixedText(iteration, 0), "</text>\n");
    }
  }

  void Add(const Points& points, const Curve& curve) {
    if (points.empty()) return;
    std::string path;
    for (const auto& point : points) {
      absl::StrAppend(&path, path.empty() ? "" : " ", FixedText(X(point.first), 1), ",",
                      FixedText(Y(point.second), 1));
    }
    absl::StrAppend(&body_, "<polyline fill=\"none\" stroke=\"", curve.colour,
                    "\" stroke-width=\"1.5\" points=\"", path, "\"/>\n");
    absl::StrAppend(&body_, "<text class=\"n\" x=\"",
                    curve.colour == kTestColour ? kWidth - 20 : kWidth - 70, "\" y=\"", top_ - 8,
                    "\" fill=\"", curve.colour, "\">", curve.name, "</text>\n");
  }

  const std::vector<LogLine>& lines_;
  double last_ = 1, low_ = 0, high_ = 1;
  int top_ = kTop + 20;
  std::string body_;
};

}  // namespace

std::string CurvesAsSvg(const std::string& title, const std::vector<LogLine>& lines) {
  CurveDrawing drawing(lines);
  for (const Panel& panel : kPanels) drawing.Draw(panel);
  return absl::StrCat(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"", kWidth, "\" height=\"",
      drawing.height(), "\" viewBox=\"0 0 ", kWidth, " ", drawing.height(),
      "\">\n<style>text{font:12px sans-serif}.h{font-weight:bold}.n{text-anchor:end}"
      ".m{text-anchor:middle}.a{fill:none;stroke:#999}</style>\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n<text class=\"h\" x=\"20\" "
      "y=\"24\">",
      EscapeXml(title), " (steps)</text>\n", drawing.body(), "</svg>\n");
}

}  // namespace caffe2rt
