#pragma once
// "Did you mean": the known names closest to an unknown one.

#include <cstdint>
#include <string>
#include <vector>

namespace caffe2rt {

// Levenshtein distance, bounded: more than `limit` edits give limit + 1.
int EditDistance(const std::string& a, const std::string& b, int limit);

// Characters that one search for close names compares at most, and that all searches about one file
// do: about a tenth of a second. Names that a file asks for without end then have no suggestions.
inline constexpr int64_t kSuggestionWork = 50'000'000;

// At most `most` of `known` that are close to `name`, best first: few edits, the same name in
// another case, one holding the other, or the same beginning. The search subtracts the characters
// it compares from `*work_left` and stops when they are used up; without it, from kSuggestionWork.
std::vector<std::string> NearestNames(const std::string& name,
                                      const std::vector<std::string>& known, size_t most = 3,
                                      int64_t* work_left = nullptr);

}  // namespace caffe2rt
