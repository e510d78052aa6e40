#include "contexts/cpu/processor_list.h"

#include <charconv>

namespace caffe2rt {
namespace {

// Removes a number from the front of the text. Returns false if there is none.
bool Take(std::string_view* text, int* value) {
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), *value);
  if (error != std::errc() || *value < 0) return false;
  text->remove_prefix(static_cast<size_t>(end - text->data()));
  return true;
}

}  // namespace

std::vector<std::pair<int, int>> ParseProcessorList(std::string_view text) {
  std::vector<std::pair<int, int>> ranges;
  int first = 0;
  while (Take(&text, &first)) {
    int last = first;
    if (text.starts_with('-')) {
      text.remove_prefix(1);
      if (!Take(&text, &last)) break;
    }
    ranges.emplace_back(first, last);
    if (text.starts_with(',')) text.remove_prefix(1);
  }
  return ranges;
}

}  // namespace caffe2rt
