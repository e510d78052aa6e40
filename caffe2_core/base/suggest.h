#pragma once
// "Did you mean": the known names closest to an unknown one.

#include <cstdint>
#include <string>
#include <vector>

#pragma GCC visibility push(default)
namespace caffe2rt {

// The number of edits that turn `a` into `b`: insertions, deletions and substitutions of a character,
// and transpositions of two adjacent ones (the restricted Damerau-Levenshtein distance). Returns
// limit + 1 if it exceeds `limit`.
int EditDistance(const std::string& a, const std::string& b, int limit);

// The maximum number of characters that one search for similar names compares, which takes about
// 0.1 seconds. Searches on behalf of one file share one such budget, so that a file with very many
// unknown names cannot take unbounded time; once it is used up, errors have no suggestions.
inline constexpr int64_t kSuggestionWork = 50'000'000;

// Returns up to `most` names of `known` that are similar to `name`, best first. Names are similar
// if they differ by a few edits or only in case, if one contains the other, or if they share a long
// prefix. The search subtracts the number of characters that it compares from `*work_left` and
// stops when none are left. If `work_left` is null, it starts with kSuggestionWork.
std::vector<std::string> NearestNames(const std::string& name,
                                      const std::vector<std::string>& known, size_t most = 3,
                                      int64_t* work_left = nullptr);

}  // namespace caffe2rt
#pragma GCC visibility pop
