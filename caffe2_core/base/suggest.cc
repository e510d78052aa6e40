#include "caffe2_core/base/suggest.h"

#include <absl/strings/ascii.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace caffe2rt {
namespace {

// The wanted name is truncated to the first length; candidates longer than the second are skipped.
constexpr size_t kMaxWantedBytes = 256, kMaxCandidateBytes = 1024;

// An upper bound on the number of characters that the comparison with one candidate examines: the
// substring searches, and the cells that EditDistance computes.
int64_t SearchWork(size_t wanted, size_t candidate, int limit) {
  if (candidate > kMaxCandidateBytes) return 1;
  const auto n = static_cast<int64_t>(wanted), m = static_cast<int64_t>(candidate);
  return n + m + (std::abs(n - m) > limit ? 0 : n * std::min<int64_t>(m, 2 * limit + 1));
}

}  // namespace

// The recurrence of the restricted Damerau-Levenshtein distance (optimal string alignment) with two
// rows before the current one, limited to the cells within `limit` of the diagonal: all other cells
// exceed the limit. After iteration i, row[j] is the distance of the first i characters of `a` to
// the first j of `b`. Costs O(n * limit) time; stops early when two whole rows exceed the limit.
int EditDistance(const std::string& a, const std::string& b, int limit) {
  const int n = static_cast<int>(a.size()), m = static_cast<int>(b.size());
  if (std::abs(n - m) > limit) return limit + 1;
  std::vector<int> before, previous(m + 1), row(m + 1);
  before.assign(m + 1, limit + 1);
  for (int j = 0; j <= m; ++j) previous[j] = j;
  int best_before = 0;
  for (int i = 1; i <= n; ++i) {
    const int first = std::max(1, i - limit), last = std::min(m, i + limit);
    row[first - 1] = first == 1 ? i : limit + 1;
    int best = row[first - 1];
    for (int j = first; j <= last; ++j) {
      row[j] =
          std::min({previous[j - 1] + (a[i - 1] != b[j - 1]), previous[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
      best = std::min(best, row[j]);
    }
    if (last < m) row[last + 1] = limit + 1;  // the next row reads it
    if (best > limit && best_before > limit) return limit + 1;
    best_before = best;
    before.swap(previous);
    previous.swap(row);
  }
  return std::min(previous[m], limit + 1);
}

std::vector<std::string> NearestNames(const std::string& name,
                                      const std::vector<std::string>& known, size_t most,
                                      int64_t* work_left) {
  int64_t own_work = kSuggestionWork;
  int64_t& work = work_left != nullptr ? *work_left : own_work;
  const std::string wanted = absl::AsciiStrToLower(name.substr(0, kMaxWantedBytes));
  const int limit = std::max<int>(1, static_cast<int>(wanted.size()) / 3);
  std::vector<std::pair<int, std::string>> ranked;
  for (const std::string& candidate : known) {
    if (work <= 0) break;
    work -= SearchWork(wanted.size(), candidate.size(), limit);
    if (candidate.size() > kMaxCandidateBytes) continue;
    const std::string lower = absl::AsciiStrToLower(candidate);
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
