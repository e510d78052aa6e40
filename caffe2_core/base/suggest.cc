#include "caffe2_core/base/suggest.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace caffe2rt {
namespace {
std::string Lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}
}  // namespace

int EditDistance(const std::string& a, const std::string& b, int limit) {
  const int n = static_cast<int>(a.size()), m = static_cast<int>(b.size());
  if (std::abs(n - m) > limit) return limit + 1;
  std::vector<int> row(m + 1);
  for (int j = 0; j <= m; ++j) row[j] = j;
  for (int i = 1; i <= n; ++i) {
    int diagonal = row[0];
    row[0] = i;
    for (int j = 1; j <= m; ++j) {
      const int substitute = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({substitute, row[j] + 1, row[j - 1] + 1});
    }
  }
  return std::min(row[m], limit + 1);
}

std::vector<std::string> NearestNames(const std::string& name,
                                      const std::vector<std::string>& known, size_t most) {
  const std::string wanted = Lower(name.substr(0, 256));
  const int limit = std::max<int>(1, static_cast<int>(wanted.size()) / 3);
  std::vector<std::pair<int, std::string>> ranked;
  for (const std::string& candidate : known) {
    const std::string lower = Lower(candidate);
    int rank = EditDistance(wanted, lower, limit);
    const size_t common = static_cast<size_t>(
        std::mismatch(wanted.begin(), wanted.end(), lower.begin(), lower.end()).first -
        wanted.begin());
    const bool holds = wanted.size() >= 3 && (lower.find(wanted) != std::string::npos ||
                                              (lower.size() >= 3 && wanted.find(lower) == 0) ||
                                              (common >= 4 && common * 4 >= wanted.size() * 3));
    if (rank > limit && holds) rank = limit;
    if (rank <= limit) ranked.emplace_back(rank, candidate);
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> names;
  for (size_t i = 0; i < ranked.size() && i < most; ++i) names.push_back(ranked[i].second);
  return names;
}

}  // namespace caffe2rt
