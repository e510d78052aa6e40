// Kills processes during Save and Checkpoint. Afterwards a minidb contains either the old or the
// new state, a leveldb or lmdb is absent or complete, and a retry succeeds. For each database type
// and operator there are 200 points at which the process is killed: before each system call that
// changes files, and within the writes. With CAFFE2_TEST_ALL_KILLS=1 the test uses all points.
// Otherwise it uses every second one, alternating between the operators, or every tenth one under a
// sanitizer, where forking is slow.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <tuple>

#include "tests/support/file_calls.h"
#include "tests/support/operator_test.h"
#include "tests/support/sanitizers.h"

namespace caffe2rt::save_kill_test {
namespace {

using test::Feed;
using test::FileCall;
using test::FileCalls;
using test::Interruption;
using test::RunAndKill;
using test::RunOp;
using test::TempDir;

constexpr size_t kPoints = 200;
constexpr int64_t kElements = 6000;  // two chunks

class SaveKillTest : public testing::TestWithParam<const char*> {
 protected:
  void FeedState(float value) {
    Feed<int64_t>(&ws_, "it", {1}, {static_cast<int64_t>(value)});
    Feed<float>(&ws_, "a", {kElements}, std::vector<float>(kElements, value));
    *ws_.CreateBlob("s")->GetMutable<std::string>() = std::string(5000, value == 1 ? 'o' : 'n');
  }
  void Save(const std::string& op, const std::string& db) {
    RunOp(&ws_, "type: '" + op + "' input: 'it' input: 'a' input: 's' " + Database(db) +
                    " arg { name: 'chunk_size' i: 3000 }");
  }
  std::string Database(const std::string& db) const {
    return "arg { name: 'db' s: '" + db + "' } arg { name: 'db_type' s: '" + type_ + "' }";
  }
  // Returns the saved value, 0 if there is no database, or -1 if the state is neither old nor new.
  float State() {
    Workspace read(dir_.path());
    RunOp(&read,
          "type: 'DBExists' output: 'exists' arg { name: 'db_name' s: 'db' } "
          "arg { name: 'db_type' s: '" +
              type_ + "' }");
    const bool exists = read.GetBlob("exists")->Get<Tensor>().data<bool>()[0];
    EXPECT_EQ(exists, std::filesystem::exists(dir_.path("db")));
    if (!exists) return 0;
    RunOp(&read, "type: 'Load' output: 'it' output: 'a' output: 's' " + Database("db"));
    const float* a = read.GetBlob("a")->Get<Tensor>().data<float>();
    for (int64_t i = 0; i < kElements; ++i) {
      if (a[i] != a[0]) return -1;
    }
    const bool whole =
        read.GetBlob("it")->Get<Tensor>().data<int64_t>()[0] == a[0] &&
        read.GetBlob("s")->Get<std::string>() == std::string(5000, a[0] == 1 ? 'o' : 'n');
    return whole ? a[0] : -1;
  }
  bool Replaces() const { return type_ == "minidb"; }
  // Creates the state before the save that is killed.
  void Prepare() {
    std::filesystem::remove_all(dir_.path("db"));
    if (!Replaces()) return;
    FeedState(1);
    Save("Save", "db");
  }
  // Returns kPoints points, the last one first: each call, and evenly distributed bytes within the
  // writes.
  std::vector<Interruption> Points(const std::string& op) {
    Prepare();
    FeedState(2);
    std::vector<FileCall> calls;
    {
      const FileCalls recorded;
      Save(op, "db");
      calls = recorded.all();
    }
    std::vector<Interruption> points;
    size_t bytes = 0;
    for (size_t i = 0; i < calls.size(); ++i) {
      points.push_back({.call = i});
      bytes += calls[i].bytes;
    }
    EXPECT_LT(points.size(), kPoints);
    const size_t cuts = kPoints - points.size();
    for (size_t cut = 0; cut < cuts; ++cut) {
      size_t at = bytes * (2 * cut + 1) / (2 * cuts), call = 0;
      while (at >= calls[call].bytes) at -= calls[call++].bytes;
      points.push_back({.call = call, .bytes = at});
    }
    std::sort(points.begin(), points.end(), [](const auto& a, const auto& b) {
      return std::tie(a.call, a.bytes) > std::tie(b.call, b.bytes);
    });
    return points;
  }
  // Returns whether the new state was in place after the kill.
  bool KillAndRetry(const std::string& op, const Interruption& point) {
    Prepare();
    FeedState(2);
    EXPECT_FALSE(RunAndKill(point, [&] { Save(op, "db"); }));
    const float state = State();
    EXPECT_TRUE(state == 2 || state == (Replaces() ? 1 : 0)) << state;
    if (Replaces() || state == 0) {
      Save(op, "db");
    } else {
      test::ExpectThrows([&] { Save(op, "db"); }, "xists");
    }
    EXPECT_EQ(State(), 2);
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(dir_.path()), {}), 1);
    return state == 2;
  }

  const std::string type_ = GetParam();
  const TempDir dir_;
  Workspace ws_{dir_.path()};
};

TEST_P(SaveKillTest, LeavesTheOldStateOrTheNewOne) {
  const bool forks_slowly = test::kHasAddressSanitizer || test::kHasThreadSanitizer;
  const bool all = std::getenv("CAFFE2_TEST_ALL_KILLS") != nullptr;
  const size_t stride = all ? 1 : forks_slowly ? 10 : 2;
  size_t first = 0, kills = 0, in_place = 0;
  for (const char* op : {"Save", "Checkpoint"}) {
    const std::vector<Interruption> points = Points(op);
    for (size_t i = first; i < points.size(); i += stride, ++kills) {
      SCOPED_TRACE(MakeString(op, ", call ", points[i].call, ", byte ", points[i].bytes));
      in_place += KillAndRetry(op, points[i]);
      if (HasFailure()) return;
    }
    first = stride / 2;
  }
  EXPECT_EQ(kills, kPoints * 2 / stride);
  EXPECT_GT(in_place, 0u);
  EXPECT_LT(in_place, kills);
}

INSTANTIATE_TEST_SUITE_P(Types, SaveKillTest, testing::Values("minidb", "leveldb", "lmdb"));

}  // namespace
}  // namespace caffe2rt::save_kill_test
