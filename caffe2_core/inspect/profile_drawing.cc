#include "caffe2_core/inspect/profile_drawing.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_replace.h>
#include <absl/strings/strip.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "caffe2_core/base/display_width.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/base/utf8.h"

namespace caffe2rt {
namespace {

// Colours that people with colour blindness can tell apart (Okabe and Ito). The costliest types get
// one each; the others share grey.
constexpr const char* kColours[] = {"#0072b2", "#e69f00", "#009e73", "#cc79a7",
                                    "#56b4e9", "#d55e00", "#f0e442"};
constexpr const char* kOtherColour = "#999999";

constexpr int kWidth = 900, kMargin = 20, kLineHeight = 22, kStripHeight = 40;
constexpr int kLabelWidth = 330, kNumberWidth = 170;

std::string XmlText(const std::string& text) {
  return absl::StrReplaceAll(OneLine(text),
                             {{"<", "&lt;"}, {">", "&gt;"}, {"&", "&amp;"}, {"\"", "&quot;"}});
}

std::string ShareText(const NetProfile& profile, double ms) {
  return FixedText(profile.ShareOf(ms), 1) + " %";
}

// Without the ending that the graph pass for oneDNN's layouts adds to blobs.
std::string LabelOf(const OperatorProfile& op) {
  return absl::StrCat(op.index, " ", op.type, op.output.empty() ? "" : "  ",
                      absl::StripSuffix(op.output, "_ideep"));
}

class Drawing {
 public:
  explicit Drawing(const NetProfile& profile) : profile_(profile) {
    for (const NetProfile::TypeTotal& total : profile.ByType()) {
      if (colours_.size() == std::size(kColours)) break;
      colours_.emplace(total.type, kColours[colours_.size()]);
    }
  }

  std::string Draw(size_t most) {
    Title();
    Strip();
    Types();
    Operators(most);
    return absl::StrCat(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"", kWidth, "\" height=\"", y_ + kMargin,
        "\" viewBox=\"0 0 ", kWidth, " ", y_ + kMargin,
        "\">\n<style>text{font:13px sans-serif}.h{font-weight:bold}.n{text-anchor:end}</style>\n",
        "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n", body_, "</svg>\n");
  }

 private:
  const char* ColourOf(const std::string& type) const {
    const auto it = colours_.find(type);
    return it == colours_.end() ? kOtherColour : it->second;
  }

  void Text(const std::string& text, int x, const char* text_class = "") {
    absl::StrAppend(&body_, "<text x=\"", x, "\" y=\"", y_ + 15, "\"",
                    *text_class != '\0' ? absl::StrCat(" class=\"", text_class, "\"") : "", ">",
                    XmlText(text), "</text>\n");
  }

  void Bar(double x, double width, int height, const std::string& type, const std::string& hint) {
    absl::StrAppend(&body_, "<rect x=\"", FixedText(x, 2), "\" y=\"", y_, "\" width=\"",
                    FixedText(width, 2), "\" height=\"", height, "\" fill=\"", ColourOf(type),
                    "\"><title>", XmlText(hint), "</title></rect>\n");
  }

  void Title() {
    y_ = kMargin;
    Text(absl::StrCat("net \"", ShortenedInMiddle(OneLine(profile_.net), 60), "\": median ",
                      FixedText(profile_.warm.median_ms, 3), " ms of ",
                      CountText(profile_.timed_runs, "run"), ", first run ",
                      FixedText(profile_.cold_ms, 3), " ms"),
         kMargin, "h");
    y_ += kLineHeight + 8;
  }

  void Strip() {
    constexpr double kStripWidth = kWidth - 2 * kMargin;
    const double total = std::max(profile_.SumOfOperators(), 1e-9);
    double x = kMargin;
    for (const OperatorProfile& op : profile_.operators) {
      const double width = kStripWidth * op.warm_ms / total;
      Bar(x, width, kStripHeight, op.type, HintOf(op));
      x += width;
    }
    y_ += kStripHeight + 12;
  }

  void Types() {
    Text("operator types", kMargin, "h");
    y_ += kLineHeight;
    double other_ms = 0;
    for (const NetProfile::TypeTotal& total : profile_.ByType()) {
      if (colours_.contains(total.type)) {
        TypeLine(absl::StrCat(total.type, " (", total.operators, ")"), total.type, total.warm_ms);
      } else {
        other_ms += total.warm_ms;
      }
    }
    if (other_ms > 0) TypeLine("other types", "", other_ms);
    const double rest_ms = profile_.warm.median_ms - profile_.SumOfOperators();
    Text("net minus its operators", kMargin + kLineHeight);
    Numbers(rest_ms);
    y_ += kLineHeight + 12;
  }

  void TypeLine(const std::string& label, const std::string& type, double ms) {
    Bar(kMargin, 14, 14, type, label);
    Text(ShortenedInMiddle(OneLine(label), 40), kMargin + kLineHeight);
    Numbers(ms);
    y_ += kLineHeight;
  }

  // The time at the right end of the column of labels.
  void Numbers(double ms) {
    Text(absl::StrCat(FixedText(ms, 3), " ms"), kLabelWidth + kNumberWidth - 75, "n");
    Text(ShareText(profile_, ms), kLabelWidth + kNumberWidth, "n");
  }

  void Operators(size_t most) {
    const std::vector<const OperatorProfile*> sorted = profile_.ByCost();
    const size_t shown = std::min(most, sorted.size());
    Text(shown < sorted.size()
             ? absl::StrCat("the ", shown, " costliest of ", sorted.size(), " operators")
             : "operators",
         kMargin, "h");
    y_ += kLineHeight;
    constexpr int kBarBegin = kLabelWidth + kNumberWidth + 12;
    const double longest = sorted.empty() ? 0 : sorted[0]->warm_ms;
    for (size_t i = 0; i < shown; ++i) {
      const OperatorProfile& op = *sorted[i];
      Text(ShortenedInMiddle(OneLine(LabelOf(op)), 42), kMargin);
      Numbers(op.warm_ms);
      const double width = longest > 0 ? op.warm_ms / longest * (kWidth - kMargin - kBarBegin) : 0;
      Bar(kBarBegin, width, 16, op.type, HintOf(op));
      y_ += kLineHeight;
    }
  }

  std::string HintOf(const OperatorProfile& op) const {
    std::string hint = absl::StrCat(LabelOf(op), ": ", FixedText(op.warm_ms, 4), " ms, ",
                                    ShareText(profile_, op.warm_ms), ", first run ",
                                    FixedText(op.cold_ms, 4), " ms");
    if (op.multiply_adds > 0) absl::StrAppend(&hint, ", ", op.multiply_adds, " multiply-adds");
    if (op.flops > 0)
      absl::StrAppend(&hint, ", ", FixedText(op.GigaflopsPerSecond(), 1), " GFLOP/s");
    if (op.bytes > 0) absl::StrAppend(&hint, ", ", FixedText(op.GigabytesPerSecond(), 1), " GB/s");
    return hint;
  }

  const NetProfile& profile_;
  std::map<std::string, const char*> colours_;
  std::string body_;
  int y_ = 0;
};

}  // namespace

std::string ProfileAsSvg(const NetProfile& profile, size_t most) {
  return Drawing(profile).Draw(most);
}

}  // namespace caffe2rt
