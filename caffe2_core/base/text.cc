#include "caffe2_core/base/text.h"

#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

namespace caffe2rt {

std::string FixedText(double value, int digits) { return absl::StrFormat("%.*f", digits, value); }

std::string ShortText(double value) { return absl::StrFormat("%g", value); }

std::string CountText(int64_t count, std::string_view noun, std::string_view nouns) {
  const auto view = [](std::string_view text) {
    return absl::string_view(text.data(), text.size());
  };
  if (count != 1 && !nouns.empty()) return absl::StrCat(count, " ", view(nouns));
  return absl::StrCat(count, " ", view(noun), count == 1 ? "" : "s");
}

bool IsAsciiWord(char c) { return absl::ascii_isalnum(c) || c == '_'; }

}  // namespace caffe2rt
