// Keys of ranks that something else has written, that have given up, or whose processes have ended.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "caffe2_core/runtime/waiting.h"
#include "operators/distributed/connections.h"
#include "tests/operators/distributed/thread_ranks.h"
#include "tests/support/refusals.h"
#include "tests/support/wait_for.h"

namespace caffe2rt::test::rank_keys_test {
namespace {

using testing::ElementsAre;

struct KeyFields {
  std::string place = "elsewhere", process = "7", port = "1", size = "2", generation = "0",
              token = "5", more = "";
  std::string Text() const {
    return "host=h place=" + place + " process=" + process +
           " start=9 address=127.0.0.1 port=" + port + " size=" + size +
           " generation=" + generation + " token=" + token + more;
  }
};

class RankKeysTest : public testing::Test {
 protected:
  void SetUp() override { UseThreadEngine(); }
  static std::string KeyOf(int rank) { return MakeString("cw/generation_0/rank_", rank); }
  std::string Folder() const { return "the store in folder \"" + ranks_.folder() + "\""; }
  // What rank `rank` of two says about the key of rank `of`.
  std::string Error(int rank, int of, const std::string& text) {
    const StoreBlob store = ranks_.Store();
    store->Set(KeyOf(of), text);
    lost_.clear();
    std::string message;
    try {
      (void)CommonWorld::Create(ranks_.Options(rank), store);
      ADD_FAILURE() << "no error";
    } catch (const RanksLost& error) {
      lost_ = error.ranks();
      message = error.message();
    } catch (const EnforceNotMet& error) {
      message = error.message();
    }
    EXPECT_EQ(store->Find(KeyOf(of)), text);  // it stays, and the own one does not
    if (rank != of) EXPECT_EQ(store->Find(KeyOf(rank)), std::nullopt);
    store->Erase(KeyOf(of));
    return message;
  }
  const ThreadRanks ranks_{2};
  std::vector<int> lost_;
};

TEST_F(RankKeysTest, ValuesThatNoWorldHasWrittenAreQuoted) {
  std::vector<std::string> texts = {"", "garbage", "process=7", "host=h place=p"};
  for (std::string KeyFields::*field : {&KeyFields::process, &KeyFields::port, &KeyFields::size,
                                        &KeyFields::generation, &KeyFields::token}) {
    for (const char* value : {"", "x", "1x"}) {
      KeyFields fields;
      fields.*field = value;
      texts.push_back(fields.Text());
    }
  }
  for (const std::string& text : texts) {
    for (const int rank : {0, 1}) {
      EXPECT_EQ(Error(rank, 1 - rank, text), "key \"" + KeyOf(1 - rank) + "\" in " + Folder() +
                                                 " was not written by a world: \"" + text + "\"");
    }
  }
}

// Who has given up names the ranks that are lost, and why.
TEST_F(RankKeysTest, ARankThatHasGivenUpIsBelieved) {
  for (const int rank : {0, 1}) {
    const std::string start = MakeString("world \"cw\" (rank ", rank, " of 2) cannot be created: ");
    KeyFields fields;
    fields.more = MakeString(" gave_up=", 1 - rank, " its reason, with = and spaces");
    EXPECT_EQ(
        Error(rank, 1 - rank, fields.Text()),
        start + MakeString("rank ", 1 - rank, " did not answer: its reason, with = and spaces"));
    EXPECT_THAT(lost_, ElementsAre(1 - rank));
    fields.more = MakeString(" gave_up=", 1 - rank, ",", 1 - rank, " twice");
    (void)Error(rank, 1 - rank, fields.Text());
    EXPECT_THAT(lost_, ElementsAre(1 - rank, 1 - rank));
    // Without a reason, or with something else among the ranks.
    fields.more = MakeString(" gave_up=", 1 - rank);
    EXPECT_EQ(Error(rank, 1 - rank, fields.Text()),
              start + MakeString("rank ", 1 - rank, " did not answer: "));
    fields.more = MakeString(" gave_up=x,,", 1 - rank, " why");
    EXPECT_EQ(Error(rank, 1 - rank, fields.Text()),
              start + MakeString("rank ", 1 - rank, " did not answer: why"));
  }
}

// No process has this number. The place is that of this machine, or it is not known.
TEST_F(RankKeysTest, AProcessOfThisMachineThatHasEndedIsNamed) {
  KeyFields fields;
  fields.process = "999999999";
  fields.place = PlaceOfThisProcess("pid");
  ASSERT_NE(fields.place, "");
  for (const int rank : {0, 1}) {
    EXPECT_EQ(
        Error(rank, 1 - rank, fields.Text()),
        MakeString("world \"cw\" (rank ", rank, " of 2) cannot be created: rank ", 1 - rank,
                   " did not answer: process 999999999 on host h, which wrote key \"",
                   KeyOf(1 - rank), "\" to ", Folder(),
                   ", has ended; if an earlier run with the same id left the key, use another "
                   "id, or remove the folder"));
    EXPECT_THAT(lost_, ElementsAre(1 - rank));
  }
}

TEST_F(RankKeysTest, TheOwnKeyMayExistAlready) {
  const auto exists = [&](const std::string& writer, const std::string& why) {
    return "world \"cw\" cannot be created: key \"" + KeyOf(0) + "\" exists in " + Folder() +
           ", written by " + writer + why;
  };
  const std::string unknown =
      ": another process has this rank, or an earlier run with the same id left the key";
  EXPECT_EQ(Error(0, 0, "garbage"), exists("an unknown process", unknown));
  EXPECT_EQ(Error(0, 0, KeyFields().Text()), exists("process 7 on host h", unknown));
  KeyFields fields;
  fields.process = "999999999";
  EXPECT_EQ(Error(0, 0, fields.Text()), exists("process 999999999 on host h", unknown));
  fields.place = PlaceOfThisProcess("pid");
  EXPECT_EQ(Error(0, 0, fields.Text()),
            exists("process 999999999 on host h",
                   ", which has ended: an earlier run with the same id left it; use another id, or "
                   "remove the folder"));
  EXPECT_TRUE(std::filesystem::is_empty(ranks_.folder() + "/"));
}

// A store that erases nothing before the test says so: a rank keeps the reason in its key for a
// second only, which may be over before a busy machine reads it.
class KeepingStore final : public Store {
 public:
  explicit KeepingStore(StoreBlob store) : store_(std::move(store)) {}
  void Set(const std::string& key, const std::string& value) override {
    store_->Set(key, value);
    set_ = std::chrono::steady_clock::now();
  }
  bool SetNew(const std::string& key, const std::string& value) override {
    return store_->SetNew(key, value);
  }
  std::optional<std::string> Find(const std::string& key) override { return store_->Find(key); }
  int64_t Add(const std::string& key, int64_t value) override { return store_->Add(key, value); }
  void Erase(const std::string& key) override {
    const auto kept = std::chrono::steady_clock::now() - set_;
    EXPECT_TRUE(is_read || kept >= std::chrono::milliseconds(900)) << "nobody could read " << key;
    EXPECT_TRUE(WaitFor([this] { return may_erase.load(); }));
    store_->Erase(key);
  }
  std::string Describe() const override { return store_->Describe(); }

  std::atomic<bool> is_read{false}, may_erase{false};

 private:
  const StoreBlob store_;
  std::chrono::steady_clock::time_point set_{};
};

// A rank that comes later reads in the key why the other one has given up.
TEST_F(RankKeysTest, ARankThatIsStoppedLeavesItsReasonInItsKey) {
  const StoreBlob store = ranks_.Store();
  const auto keeping = std::make_shared<KeepingStore>(ranks_.Store());
  std::atomic<bool> stopped{false};
  std::thread rank0([&] {
    const StopScope scope(stopped);
    EXPECT_THROW((void)CommonWorld::Create(ranks_.Options(0), keeping), RunStopped);
  });
  const auto key_has = [&](const std::string& text) {
    return WaitFor(
        [&] { return store->Find(KeyOf(0)).value_or("").find(text) != std::string::npos; });
  };
  EXPECT_TRUE(key_has("host="));
  stopped = true;
  const bool is_left = key_has(" gave_up=0 rank 0 gave up: ");
  keeping->is_read = true;
  EXPECT_TRUE(is_left);
  if (is_left) {
    std::string message;
    try {
      (void)CommonWorld::Create(ranks_.Options(1), store);
    } catch (const RanksLost& error) {
      lost_ = error.ranks();
      message = error.message();
    }
    EXPECT_THAT(lost_, ElementsAre(0));
    EXPECT_THAT(message,
                testing::StartsWith("world \"cw\" (rank 1 of 2) cannot be created: rank 0 did not "
                                    "answer: rank 0 gave up: "));
  }
  // Rank 0 waits until rank 1 knows.
  KeyFields fields;
  fields.more = " gave_up=1 because of rank 0";
  store->Set(KeyOf(1), fields.Text());
  keeping->may_erase = true;
  rank0.join();
  EXPECT_EQ(store->Find(KeyOf(0)), std::nullopt);
  store->Erase(KeyOf(1));
}

// Losses are announced once, with the ranks that read them.
TEST_F(RankKeysTest, AnAnnouncedLossHasTheOptionsOfItsRank) {
  const StoreBlob store = ranks_.Store();
  WorldOptions options = ranks_.Options(1);
  options.generation = 4;
  EXPECT_EQ(CommonWorld::AnnounceLoss(options, store.get(), "out of memory"),
            "cw/generation_4/rank_1");
  const std::string text = store->Find("cw/generation_4/rank_1").value_or("");
  EXPECT_THAT(text, testing::HasSubstr(" size=2 generation=4 "));
  EXPECT_THAT(text, testing::EndsWith(" gave_up=1 out of memory"));
  store->Erase("cw/generation_4/rank_1");
}

}  // namespace
}  // namespace caffe2rt::test::rank_keys_test
