#pragma once
// Covering arrays: few combinations of the levels of some factors, in which all combinations of the
// levels of any `strength` factors occur. Most faults need two or three conditions at once, so that
// such an array finds them at a small part of the cost of all combinations.
//
//   for (const std::vector<size_t>& row : CoveringArray({3, 2, 4}, 2)) ...  // row[0] is 0, 1 or 2

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

namespace caffe2rt::test {

class CoveringArrayBuilder {
 public:
  using Row = std::vector<size_t>;

  // REQUIRES: 1 <= strength <= levels.size(); each factor has at least one level.
  CoveringArrayBuilder(const Row& levels, size_t strength) : levels_(levels) {
    AddSubsets({}, 0, strength);
  }

  // Greedy: each row begins with a combination that is missing. The other factors get, one after
  // the other, the level that completes most missing combinations.
  std::vector<Row> Build() {
    std::vector<Row> rows;
    for (auto& [factors, missing] : missing_) {
      while (!missing.empty()) {
        Row row(levels_.size(), kUnset);
        const Row first = *missing.begin();
        for (size_t i = 0; i < factors.size(); ++i) row[factors[i]] = first[i];
        for (size_t f = 0; f < row.size(); ++f) {
          if (row[f] == kUnset) row[f] = BestLevel(row, f, rows.size());
        }
        Remove(row);
        rows.push_back(row);
      }
    }
    return rows;
  }

 private:
  using Factors = std::vector<size_t>;
  static constexpr size_t kUnset = SIZE_MAX;

  // Adds all subsets of `strength` factors that begin with `chosen`, and their combinations.
  void AddSubsets(const Factors& chosen, size_t next, size_t strength) {
    if (chosen.size() == strength) {
      AddCombinations(chosen, {});
      return;
    }
    for (size_t f = next; f < levels_.size(); ++f) {
      Factors more = chosen;
      more.push_back(f);
      AddSubsets(more, f + 1, strength);
    }
  }
  void AddCombinations(const Factors& factors, const Row& chosen) {
    if (chosen.size() == factors.size()) {
      missing_[factors].insert(chosen);
      return;
    }
    for (size_t level = 0; level < levels_[factors[chosen.size()]]; ++level) {
      Row more = chosen;
      more.push_back(level);
      AddCombinations(factors, more);
    }
  }

  // The combination of `row` in these factors, or nothing if one of them is unset.
  static Row Project(const Row& row, const Factors& factors) {
    Row values;
    for (const size_t f : factors) {
      if (row[f] == kUnset) return {};
      values.push_back(row[f]);
    }
    return values;
  }

  // Ties are broken by `turn`, so that the levels are used equally often.
  size_t BestLevel(Row row, size_t factor, size_t turn) const {
    size_t best = 0, most = 0;
    for (size_t i = 0; i < levels_[factor]; ++i) {
      const size_t level = (turn + i) % levels_[factor];
      row[factor] = level;
      size_t completed = 0;
      for (const auto& [factors, missing] : missing_) {
        if (!missing.empty()) completed += missing.count(Project(row, factors));
      }
      if (i == 0 || completed > most) {
        best = level;
        most = completed;
      }
    }
    return best;
  }

  void Remove(const Row& row) {
    for (auto& [factors, missing] : missing_) missing.erase(Project(row, factors));
  }

  const Row levels_;
  std::map<Factors, std::set<Row>> missing_;
};

// `levels` has the number of levels of each factor. The result depends on the arguments alone.
inline std::vector<std::vector<size_t>> CoveringArray(const std::vector<size_t>& levels,
                                                      size_t strength) {
  return CoveringArrayBuilder(levels, strength).Build();
}

}  // namespace caffe2rt::test
