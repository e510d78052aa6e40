#include "binaries/commands/number_text.h"

#include <absl/strings/str_cat.h>

#include <charconv>
#include <cmath>

#include "caffe2_core/base/text.h"

namespace caffe2rt {

std::string BytesText(int64_t bytes) {
  const auto number = static_cast<double>(bytes);
  if (bytes < 1024) return absl::StrCat(bytes, " B");
  if (bytes < (1 << 20)) return FixedText(number / 1024, 1) + " KiB";
  return FixedText(number / (1 << 20), 1) + " MiB";
}

std::string ShortCount(int64_t count) {
  const auto number = static_cast<double>(count);
  if (count < 10000) return absl::StrCat(count);
  if (count < 10000000) return FixedText(number / 1e3, 1) + " k";
  if (number < 1e10) return FixedText(number / 1e6, 1) + " M";
  return FixedText(number / 1e9, 1) + " G";
}

std::string NumberText(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return ShortText(value);
}

std::string ShortNumberText(double value) {
  if (!std::isfinite(value)) return NumberText(value);
  char text[32];
  const auto result =
      std::to_chars(text, text + sizeof(text), value, std::chars_format::general, 4);
  return {text, result.ptr};
}

}  // namespace caffe2rt
