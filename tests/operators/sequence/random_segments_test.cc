// Operators on segments of rows, on random lengths, compared with lists of rows.

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "tests/support/operator_test.h"

namespace caffe2rt::random_segments_test {
namespace {

using test::ExpectTensor;
using test::Feed;

using Row = std::vector<int32_t>;
using Rows = std::vector<Row>;

class RandomSegmentsTest : public testing::Test {
 protected:
  int64_t Int(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random_);
  }
  // Segments of rows with different numbers, and the blobs X and L.
  void Draw(int64_t shortest, int64_t longest) {
    block_ = Int(1, 4);
    segments_.assign(static_cast<size_t>(Int(1, 6)), {});
    int32_t number = 0;
    for (Rows& rows : segments_) {
      rows.assign(static_cast<size_t>(Int(shortest, longest)), Row(static_cast<size_t>(block_)));
      for (Row& row : rows) {
        for (int32_t& value : row) value = ++number;
      }
    }
    FeedRows("X", Joined(segments_));
    FeedLengths("L", segments_);
  }
  static Rows Joined(const std::vector<Rows>& segments) {
    Rows all;
    for (const Rows& rows : segments) all.insert(all.end(), rows.begin(), rows.end());
    return all;
  }
  static std::vector<int32_t> Values(const Rows& rows) {
    std::vector<int32_t> values;
    for (const Row& row : rows) values.insert(values.end(), row.begin(), row.end());
    return values;
  }
  void FeedRows(const std::string& name, const Rows& rows) {
    Feed<int32_t>(&ws_, name, {static_cast<int64_t>(rows.size()), block_}, Values(rows));
  }
  void FeedLengths(const std::string& name, const std::vector<Rows>& segments) {
    std::vector<int32_t> lengths;
    for (const Rows& rows : segments) lengths.push_back(static_cast<int32_t>(rows.size()));
    Feed<int32_t>(&ws_, name, {static_cast<int64_t>(lengths.size())}, lengths);
  }
  void ExpectRows(const std::string& name, const Rows& want) {
    ExpectTensor<int32_t>(ws_, name, {static_cast<int64_t>(want.size()), block_}, Values(want));
  }
  void ExpectLengths(const std::string& name, const std::vector<Rows>& segments) {
    std::vector<int32_t> want;
    for (const Rows& rows : segments) want.push_back(static_cast<int32_t>(rows.size()));
    ExpectTensor<int32_t>(ws_, name, {static_cast<int64_t>(want.size())}, want);
  }
  static std::string Number(const std::string& name, int64_t value) {
    return " arg { name: '" + name + "' i: " + std::to_string(value) + " }";
  }
  void Run(const std::string& op) { test::RunOp(&ws_, op + " device_option {}"); }

  std::mt19937 random_{9};
  Workspace ws_;
  int64_t block_ = 1;
  std::vector<Rows> segments_;
};

TEST_F(RandomSegmentsTest, ArePackedAndUnpacked) {
  for (int i = 0; i < 80; ++i) {
    Draw(0, 5);
    size_t width = 0;
    for (const Rows& rows : segments_) width = std::max(width, rows.size());
    const bool limited = i % 2 == 0;
    if (limited) width = static_cast<size_t>(Int(0, 6));
    const std::string limit = limited ? Number("max_length", static_cast<int64_t>(width)) : "";
    const Row none(static_cast<size_t>(block_), 0);
    std::vector<Rows> packed, kept;
    std::vector<bool> present;
    for (const Rows& rows : segments_) {
      packed.emplace_back(width, none);
      const size_t count = std::min(width, rows.size());
      std::copy_n(rows.begin(), count, packed.back().begin());
      kept.emplace_back(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(count));
      for (size_t k = 0; k < width; ++k) present.push_back(k < count);
    }
    const auto n = static_cast<int64_t>(segments_.size()), w = static_cast<int64_t>(width);
    Run("type: 'PackSegments' input: 'L' input: 'X' output: 'P' output: 'M'" + limit +
        Number("return_presence_mask", 1));
    ExpectTensor<int32_t>(ws_, "P", {n, w, block_}, Values(Joined(packed)));
    ExpectTensor<bool>(ws_, "M", {n, w}, present);
    Run("type: 'UnpackSegments' input: 'L' input: 'P' output: 'Y'" + limit);
    ExpectRows("Y", Joined(kept));
  }
}

TEST_F(RandomSegmentsTest, HavePaddingThatIsRemoved) {
  for (int i = 0; i < 80; ++i) {
    Draw(0, 4);
    const int64_t start = Int(0, 3), end = Int(0, 3);
    const std::string widths = Number("padding_width", start) + Number("end_padding_width", end);
    Row before(static_cast<size_t>(block_)), after(before);
    for (size_t k = 0; k < before.size(); ++k) {
      before[k] = static_cast<int32_t>(-1 - k);
      after[k] = static_cast<int32_t>(-101 - k);
    }
    Feed<int32_t>(&ws_, "B", {block_}, before);
    Feed<int32_t>(&ws_, "E", {block_}, after);
    std::vector<Rows> padded;
    for (const Rows& rows : segments_) {
      padded.emplace_back(static_cast<size_t>(start), before);
      padded.back().insert(padded.back().end(), rows.begin(), rows.end());
      padded.back().insert(padded.back().end(), static_cast<size_t>(end), after);
    }
    Run("type: 'AddPadding' input: 'X' input: 'L' input: 'B' input: 'E' output: 'Y' output: 'K'" +
        widths);
    ExpectRows("Y", Joined(padded));
    ExpectLengths("K", padded);
    Run("type: 'RemovePadding' input: 'Y' input: 'K' output: 'Z' output: 'J'" + widths);
    ExpectRows("Z", Joined(segments_));
    ExpectLengths("J", segments_);
    // The sums of what was added. Without padding there is nothing to add up.
    if (start + end == 0) continue;
    const auto times = static_cast<int32_t>(segments_.size());
    Row starts = before, ends = after;
    for (int32_t& value : starts) value *= times * static_cast<int32_t>(start);
    for (int32_t& value : ends) value *= times * static_cast<int32_t>(end);
    Run("type: 'GatherPadding' input: 'Y' input: 'K' output: 'S' output: 'T'" + widths);
    ExpectTensor<int32_t>(ws_, "S", {block_}, starts);
    ExpectTensor<int32_t>(ws_, "T", {block_}, ends);
  }
}

TEST_F(RandomSegmentsTest, AreGatheredFilledAndRepeated) {
  for (int i = 0; i < 80; ++i) {
    Draw(0, 4);
    const auto n = static_cast<int64_t>(segments_.size());
    std::vector<int64_t> index(static_cast<size_t>(Int(0, 7)));
    Rows gathered;
    for (int64_t& k : index) {
      k = Int(0, n - 1);
      const Rows& rows = segments_[static_cast<size_t>(k)];
      gathered.insert(gathered.end(), rows.begin(), rows.end());
    }
    Feed<int64_t>(&ws_, "I", {static_cast<int64_t>(index.size())}, index);
    Run("type: 'LengthsGather' input: 'X' input: 'L' input: 'I' output: 'Y'");
    ExpectRows("Y", gathered);
    size_t width = 1;
    for (const Rows& rows : segments_) width = std::max(width, rows.size());
    width += static_cast<size_t>(Int(0, 2));
    Rows filled;
    std::vector<int32_t> ids, offsets, ranges;
    std::vector<float> weights;
    int32_t at = 0;
    for (size_t s = 0; s < segments_.size(); ++s) {
      const Rows& rows = segments_[s];
      const auto length = static_cast<int32_t>(rows.size());
      filled.insert(filled.end(), rows.begin(), rows.end());
      filled.resize((s + 1) * width, Row(static_cast<size_t>(block_), -1));
      ids.insert(ids.end(), rows.size(), static_cast<int32_t>(s));
      weights.insert(weights.end(), rows.size(), 1 / static_cast<float>(length));
      offsets.push_back(at);
      ranges.insert(ranges.end(), {at, length});
      at += length;
    }
    Run("type: 'LengthsPad' input: 'X' input: 'L' output: 'Y'" +
        Number("target_length", static_cast<int64_t>(width)));
    ExpectRows("Y", filled);
    Run("type: 'LengthsToSegmentIds' input: 'L' output: 'Y'");
    ExpectTensor<int32_t>(ws_, "Y", {at}, ids);
    Run("type: 'LengthsToOffsets' input: 'L' output: 'Y'");
    ExpectTensor<int32_t>(ws_, "Y", {n}, offsets);
    Run("type: 'LengthsToRanges' input: 'L' output: 'Y'");
    ExpectTensor<int32_t>(ws_, "Y", {n, 2}, ranges);
    Run("type: 'LengthsToWeights' input: 'L' output: 'Y' arg { name: 'power' f: 1 }");
    ExpectTensor<float>(ws_, "Y", {at}, weights, 1e-6);
    // Each row as often as its number is long.
    const Rows all = Joined(segments_);
    std::vector<int32_t> times(all.size());
    Rows repeated;
    for (size_t k = 0; k < all.size(); ++k) {
      times[k] = static_cast<int32_t>(Int(0, 3));
      repeated.insert(repeated.end(), static_cast<size_t>(times[k]), all[k]);
    }
    Feed<int32_t>(&ws_, "T", {static_cast<int64_t>(times.size())}, times);
    Run("type: 'LengthsTile' input: 'X' input: 'T' output: 'Y'");
    ExpectRows("Y", repeated);
  }
}

TEST_F(RandomSegmentsTest, AreReversedInTheirSteps) {
  for (int i = 0; i < 60; ++i) {
    const int64_t steps = Int(1, 5), batch = Int(1, 4), block = Int(1, 3);
    std::vector<int32_t> x(static_cast<size_t>(steps * batch * block)), want(x.size());
    for (size_t k = 0; k < x.size(); ++k) x[k] = static_cast<int32_t>(k + 1);
    std::vector<int32_t> lengths(static_cast<size_t>(batch));
    for (int32_t& length : lengths) length = static_cast<int32_t>(Int(0, steps));
    for (int64_t t = 0; t < steps; ++t) {
      for (int64_t b = 0; b < batch; ++b) {
        const int64_t length = lengths[static_cast<size_t>(b)];
        const int64_t from = t < length ? length - 1 - t : t;
        std::copy_n(x.begin() + (from * batch + b) * block, block,
                    want.begin() + (t * batch + b) * block);
      }
    }
    Feed<int32_t>(&ws_, "X", {steps, batch, block}, x);
    Feed<int32_t>(&ws_, "L", {batch}, lengths);
    Run("type: 'ReversePackedSegs' input: 'X' input: 'L' output: 'Y'");
    ExpectTensor<int32_t>(ws_, "Y", {steps, batch, block}, want);
  }
}

}  // namespace
}  // namespace caffe2rt::random_segments_test
