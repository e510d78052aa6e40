// Worlds whose ranks are threads of the test: what the ranks agree on, and how they are lost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <future>
#include <mutex>
#include <set>

#include "tests/operators/distributed/thread_ranks.h"
#include "tests/support/refusals.h"

namespace caffe2rt::test::thread_worlds_test {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::IsEmpty;

const TypeMeta kInt = TypeMeta::Make<int>();

// For what ends with the timeout: on a busy machine a thread may not run for seconds, and a rank
// must answer within the half of it.
constexpr int kShortMs = 6000;

class ThreadWorldsTest : public testing::Test {
 protected:
  void SetUp() override { UseThreadEngine(); }
  void TearDown() override { UseThreadEngine(); }
};

// The ranks that are lost by `act`, whose message is put into `message`.
std::vector<int> LostBy(const std::function<void()>& act, std::string* message) {
  try {
    act();
  } catch (const RanksLost& error) {
    EXPECT_EQ(error.world(), "cw");
    *message = error.message();
    return error.ranks();
  }
  ADD_FAILURE() << "no rank is lost";
  return {};
}

TEST_F(ThreadWorldsTest, CollectivesOfThreeRanksGiveWhatTheyState) {
  const ThreadRanks ranks(3);
  ranks.Run([](int rank, CommonWorld& world) {
    int sum[2] = {rank + 1, 10 * rank};
    world.Allreduce({"a"}, sum, 2, kInt);
    EXPECT_THAT(sum, ElementsAre(6, 30));
    int copied[2] = {rank, -rank};
    world.Broadcast({"b"}, copied, 2, kInt, 2);
    EXPECT_THAT(copied, ElementsAre(2, -2));
    int reduced[1] = {rank + 1};
    world.Reduce({"c"}, reduced, 1, kInt, 1);
    EXPECT_THAT(reduced, ElementsAre(rank == 1 ? 6 : rank + 1));
    const int own[2] = {rank, 10 + rank};
    int all[6] = {};
    world.Allgather({"d"}, own, all, 2, kInt);
    EXPECT_THAT(all, ElementsAre(0, 10, 1, 11, 2, 12));
    // The sum is 3, 6, 9, 12: one element for rank 0, none for rank 1, three for rank 2.
    int parts[4] = {rank, 2 * rank, 3 * rank, 4 * rank};
    world.ReduceScatter({"e"}, parts, std::vector<int>{1, 0, 3}, kInt);
    if (rank == 0) EXPECT_EQ(parts[0], 3);
    if (rank == 2) EXPECT_THAT(std::vector<int>(parts, parts + 3), ElementsAre(6, 9, 12));
    world.Barrier({"f"});
    EXPECT_THAT(world.lost_ranks(), IsEmpty());
  });
  EXPECT_TRUE(std::filesystem::is_empty(ranks.folder()));
}

TEST_F(ThreadWorldsTest, CollectivesOfNoElementsMoveNoData) {
  int moves = 0;
  UseThreadEngine({.moved = [&moves](int) { ++moves; }});
  ThreadRanks(2).Run([](int, CommonWorld& world) {
    world.Allreduce({"a"}, nullptr, 0, kInt);
    world.Broadcast({"b"}, nullptr, 0, kInt, 1);
    world.Reduce({"c"}, nullptr, 0, kInt, 1);
    world.Allgather({"d"}, nullptr, nullptr, 0, kInt);
    world.ReduceScatter({"e"}, nullptr, std::vector<int>{0, 0}, kInt);
  });
  EXPECT_EQ(moves, 0);
}

TEST_F(ThreadWorldsTest, MessagesAreFoundBySourceAndTag) {
  ThreadRanks(3).Run([](int rank, CommonWorld& world) {
    const auto send = [&world](int value, const std::vector<int64_t>& dims, int to, int tag) {
      const std::vector<int> values(6, value);
      world.Send({"s"}, values.data(), dims, kInt, to, tag);
    };
    if (rank == 1) {
      send(7, {2, 3}, 0, 4);
      send(8, {}, 0, 5);
      send(9, {1, 1, 1, 1, 1, 1, 1, 2}, 0, 4);
      send(0, {0, 5}, 0, 6);
    } else if (rank == 2) {
      send(6, {1}, 0, 4);
    } else {
      std::vector<int> values;
      const auto receive = [&](int source, int tag) {
        return world.Receive({"r"}, source, tag, [&](const ReceivedTensor& tensor) -> void* {
          EXPECT_EQ(tensor.type, kInt);
          int64_t count = 1;
          for (const int64_t dim : tensor.dims) count *= dim;
          values.assign(static_cast<size_t>(count), -1);
          return values.data();
        });
      };
      EXPECT_THAT(receive(1, 5).dims, IsEmpty());
      EXPECT_THAT(values, ElementsAre(8));
      EXPECT_THAT(receive(1, 4).dims, ElementsAre(2, 3));
      EXPECT_THAT(values, testing::Each(7));
      EXPECT_EQ(receive(-1, 6).source, 1);
      EXPECT_THAT(values, IsEmpty());
      EXPECT_EQ(receive(2, -1).tag, 4);
      EXPECT_THAT(values, ElementsAre(6));
      const ReceivedTensor last = receive(-1, -1);
      EXPECT_EQ(last.source, 1);
      EXPECT_EQ(last.tag, 4);
      EXPECT_THAT(last.dims, ElementsAre(1, 1, 1, 1, 1, 1, 1, 2));
      EXPECT_THAT(values, ElementsAre(9, 9));
    }
    world.Barrier({"end"});
  });
}

TEST_F(ThreadWorldsTest, MessagesThatCannotBeSentAreRejected) {
  ThreadRanks(2).Run([](int rank, CommonWorld& world) {
    const auto send = [&](const std::vector<int64_t>& dims, int tag, TypeMeta type) {
      const int none = 0;
      world.Send({"s"}, &none, dims, type, 1 - rank, tag);
    };
    const TypeMeta text = TypeMeta::Make<std::string>();
    ExpectRefusals({{[&] { send({1}, -1, kInt); }, "tag is -1, want 0 or above"},
                    {[&] { send(std::vector<int64_t>(9, 1), 0, kInt); },
                     "the tensor has 9 dimensions, want at most 8"},
                    {[&] {
                       send({2, -3}, 0, kInt);
                     },
                     "dimension 1 of a tensor to send is -3"},
                    {[&] { send({1}, 0, text); },
                     MakeString("elements of type ", text.name(),
                                " cannot be sent to other ranks, want numbers")}});
    world.Barrier({"end"});
  });
}

TEST_F(ThreadWorldsTest, DifferentOperationsAreStatedByAllRanksWhichGoOn) {
  ThreadRanks(2).Run([](int rank, CommonWorld& world) {
    float values[4] = {1, 2, 3, 4};
    const TypeMeta type = TypeMeta::Make<float>();
    const std::string start =
        MakeString("world \"cw\": the ranks started different operations as number 0: rank ", rank,
                   " started ");
    const std::string texts[] = {"Broadcast \"b\" of 3 elements of type float with root 0",
                                 "Broadcast \"b\" of 3 elements of type float with root 1"};
    EXPECT_EQ(
        MessageOf([&] { world.Broadcast({"b"}, values, 3, type, rank); }),
        start + texts[rank] + ", rank " + MakeString(1 - rank) + " started " + texts[1 - rank]);
    const std::vector<int> counts = {1 + rank, 3 - rank};
    EXPECT_THAT(MessageOf([&] { world.ReduceScatter({"r"}, values, counts, type); }),
                testing::EndsWith("ReduceScatter \"r\" of 4 elements of type float, with other "
                                  "numbers of elements for the ranks"));
    EXPECT_THAT(MessageOf([&] { world.Barrier({rank == 0 ? "x" : "y"}); }),
                testing::HasSubstr("as number 2: "));
    // What counts of a label are its first 67 characters.
    const std::string label(67, 'l');
    world.Allreduce({label + (rank == 0 ? "x" : "yz")}, values, 1, type);
    EXPECT_EQ(values[0], 2);
  });
}

TEST_F(ThreadWorldsTest, TheEngineConnectsRanksWithTheOptionsOfTheWorld) {
  std::mutex mutex;
  std::set<int> seen;
  UseThreadEngine({.connecting = [&](const TransportOptions& options, TransportBootstrap& others) {
    std::vector<std::string> messages;
    for (int to = 0; to < options.size; ++to) messages.push_back(MakeString(options.rank, to));
    std::vector<std::string> want;
    for (int from = 0; from < options.size; ++from)
      want.push_back(from == options.rank ? "" : MakeString(from, options.rank));
    EXPECT_EQ(others.Exchange(messages), want);
    const std::lock_guard<std::mutex> lock(mutex);
    seen.insert(options.rank);
    EXPECT_EQ(options.size, 3);
    EXPECT_EQ(options.world, "cw");
    EXPECT_EQ(options.address, "127.0.0.1");
    EXPECT_EQ(options.transport, "memory");
    EXPECT_EQ(options.timeout, milliseconds(12345));
  }});
  const ThreadRanks ranks(3, 12345);
  RunRanks(3, [&](int rank) {
    WorldOptions options = ranks.Options(rank);
    options.transport = "memory";
    const CommonWorldBlob world = CommonWorld::Create(options, ranks.Store());
    EXPECT_EQ(world->rank(), rank);
    EXPECT_EQ(world->size(), 3);
    EXPECT_EQ(world->engine(), "THREADS");
  });
  EXPECT_THAT(seen, ElementsAre(0, 1, 2));
}

TEST_F(ThreadWorldsTest, OptionsOfNoWorldAreRejected) {
  const ThreadRanks ranks(2);
  const auto create = [&ranks](const std::function<void(WorldOptions*)>& change) {
    return [&ranks, change] {
      WorldOptions options = ranks.Options(0);
      change(&options);
      (void)CommonWorld::Create(options, ranks.Store());
    };
  };
  const std::string rank = "world \"cw\" has rank 2 and size 2, want a rank from 0 to size - 1";
  ExpectRefusals(
      {{create([](WorldOptions* options) { options->rank = 2; }), rank},
       {create([](WorldOptions* options) { options->rank = -1; }),
        "world \"cw\" has rank -1 and size 2, want a rank from 0 to size - 1"},
       {create([](WorldOptions* options) { options->size = 0; }),
        "world \"cw\" has rank 0 and size 0, want a rank from 0 to size - 1"},
       {create([](WorldOptions* options) { options->name = ""; }),
        "a world has no name, want one that is unique among the worlds of a run"},
       {create([](WorldOptions* options) { options->timeout = milliseconds(0); }),
        "world \"cw\" has timeout_ms 0, want above 0"},
       {create([](WorldOptions* options) { options->generation = -1; }),
        "world \"cw\" has generation -1, want 0 or above"},
       {create([](WorldOptions* options) { options->transport = "ibverbs"; }),
        "world \"cw\" has transport \"ibverbs\", which engine THREADS does not have; caffe2 "
        "devices "
        "lists those that it has"},
       {create([](WorldOptions* options) { options->engine = ""; }),
        "the operator names no engine, want one that connects processes, such as GLOO"},
       {[&] { (void)CommonWorld::Create(ranks.Options(0), nullptr); },
        "world \"cw\" of 2 ranks has no store, want one by which they find each other"}});
  EXPECT_TRUE(std::filesystem::is_empty(ranks.folder()));
}

TEST_F(ThreadWorldsTest, ClonesHaveNamesOfTheirOwnWhileTheyExist) {
  const CommonWorldBlob world = CommonWorld::Create({.name = "cw"}, nullptr);
  CommonWorldBlob clone = world->Clone("copy");
  const auto taken = [](const std::string& name) {
    return "world \"cw\" has a clone with the name \"" + name + "\" already, want another name";
  };
  ExpectRefusals({{[&] { (void)world->Clone("copy"); }, taken("copy")},
                  {[&] { (void)clone->Clone("copy"); }, taken("copy")},
                  {[&] { (void)clone->Clone("cw"); }, taken("cw")},
                  {[&] { (void)world->Clone(""); }, "a clone of world \"cw\" has no name"}});
  clone.reset();
  EXPECT_EQ(world->Clone("copy")->name(), "copy");
}

TEST_F(ThreadWorldsTest, ARankThatIsStillMovingDataDoesNotLoseOneThatLeaves) {
  std::promise<void> leaving;
  UseThreadEngine({.moved = [&leaving](int rank) {
    if (rank != 0) return;
    leaving.get_future().wait();
    std::this_thread::sleep_for(milliseconds(300));
  }});
  ThreadRanks(2).Run([&leaving](int rank, CommonWorld& world) {
    int value = rank + 1;
    const auto start = std::chrono::steady_clock::now();
    world.Allreduce({"a"}, &value, 1, kInt);
    EXPECT_EQ(value, 3);
    if (rank == 0) {
      EXPECT_THAT(world.lost_ranks(), IsEmpty());
      return;
    }
    leaving.set_value();
    world.Close();  // waits for rank 0
    EXPECT_GE(std::chrono::steady_clock::now() - start, milliseconds(250));
  });
}

TEST_F(ThreadWorldsTest, ARankThatHasLeftIsLostByThoseThatWaitForIt) {
  std::promise<void> left;
  ThreadRanks(2).Run([&left](int rank, CommonWorld& world) {
    if (rank == 1) {
      world.Close();
      world.Close();
      left.set_value();
      EXPECT_EQ(MessageOf([&] { world.Barrier({"b"}); }),
                "world \"cw\" (rank 1 of 2): Barrier \"b\" of world \"cw\" on a closed world");
      return;
    }
    left.get_future().wait();
    EXPECT_THAT(world.lost_ranks(), IsEmpty());
    std::string message;
    EXPECT_THAT(LostBy([&] { world.Barrier({"b"}); }, &message), ElementsAre(1));
    EXPECT_EQ(
        message,
        "world \"cw\" (rank 0 of 2), Barrier \"b\" of world \"cw\": rank 1 did not answer: it "
        "has left the world");
    EXPECT_THAT(world.lost_ranks(), ElementsAre(1));
    const auto receive = [&] {
      (void)world.Receive({"r"}, 1, 0, [](const ReceivedTensor&) -> void* { return nullptr; });
    };
    EXPECT_THAT(LostBy(receive, &message), ElementsAre(1));
    EXPECT_THAT(message, testing::StartsWith("world \"cw\" (rank 0 of 2), ReceiveTensor \"r\""));
  });
}

TEST_F(ThreadWorldsTest, ARankThatDoesNotStartAnOperationIsNamedAfterTheTimeout) {
  std::promise<void> lost;
  ThreadRanks(2, kShortMs).Run([&lost](int rank, CommonWorld& world) {
    if (rank == 1) return lost.get_future().wait();
    std::string message;
    const auto start = std::chrono::steady_clock::now();
    EXPECT_THAT(LostBy([&] { world.Barrier({"b"}); }, &message), ElementsAre(1));
    EXPECT_GE(std::chrono::steady_clock::now() - start, milliseconds(kShortMs));
    EXPECT_EQ(
        message,
        "world \"cw\" (rank 0 of 2), Barrier \"b\" of world \"cw\": rank 1 did not answer: it "
        "runs, but did not start Barrier \"b\" of world \"cw\" within " +
            std::to_string(kShortMs) + " ms (timeout_ms), rank 1 is in no operation of the world");
    lost.set_value();
  });
}

TEST_F(ThreadWorldsTest, DataThatDoNotArriveLoseNoRank) {
  std::promise<void> abort_of[2];
  std::once_flag aborted[2];
  UseThreadEngine(
      {.moved =
           [&](int rank) {
             if (rank == 1) abort_of[1].get_future().wait();
           },
       .aborted =
           [&](int rank) { std::call_once(aborted[rank], [&] { abort_of[rank].set_value(); }); }});
  ThreadRanks(2, kShortMs).Run([&](int rank, CommonWorld& world) {
    int value = 1;
    world.Allreduce({"a"}, &value, 1, kInt);
    if (rank == 1) return;
    abort_of[0].get_future().wait();
    std::string message;
    EXPECT_THAT(LostBy([&] { world.Barrier({"b"}); }, &message), IsEmpty());
    EXPECT_EQ(
        message,
        "world \"cw\" (rank 0 of 2), Barrier \"b\" of world \"cw\": all ranks answer, but the "
        "data did not arrive within " +
            std::to_string(kShortMs) + " ms (timeout_ms)");
  });
}

TEST_F(ThreadWorldsTest, AnEngineThatFailsIsQuoted) {
  UseThreadEngine({.connecting = [](const TransportOptions&, TransportBootstrap&) {
    throw std::runtime_error("no cable");
  }});
  const ThreadRanks ranks(2);
  RunRanks(2, [&](int rank) {
    std::string message;
    EXPECT_THAT(LostBy([&] { (void)ranks.World(rank); }, &message), IsEmpty());
    EXPECT_THAT(message, testing::MatchesRegex(
                             MakeString("world \"cw\" \\(rank ", rank,
                                        " of 2\\), the creation of the world: the engine failed on "
                                        "rank [01], although all ranks are connected: no cable")));
  });
  EXPECT_TRUE(std::filesystem::is_empty(ranks.folder()));
}

TEST_F(ThreadWorldsTest, ALossThatIsAnnouncedEndsTheWaitForIt) {
  const ThreadRanks ranks(2);
  const StoreBlob store = ranks.Store();
  const std::string key = CommonWorld::AnnounceLoss(ranks.Options(1), store.get(), "it crashed");
  EXPECT_EQ(key, "cw/generation_0/rank_1");
  EXPECT_EQ(CommonWorld::AnnounceLoss(ranks.Options(1), store.get(), "again"), "");
  std::string message;
  EXPECT_THAT(LostBy([&] { (void)ranks.World(0); }, &message), ElementsAre(1));
  EXPECT_EQ(message,
            "world \"cw\" (rank 0 of 2) cannot be created: rank 1 did not answer: it crashed");
  store->Erase(key);
  EXPECT_TRUE(std::filesystem::is_empty(ranks.folder()));
}

TEST_F(ThreadWorldsTest, RanksWithOtherSizesDoNotMeet) {
  const ThreadRanks ranks(2);
  RunRanks(2, [&](int rank) {
    WorldOptions options = ranks.Options(rank);
    options.size = 2 + rank;
    EXPECT_THAT(MessageOf([&] { (void)CommonWorld::Create(options, ranks.Store()); }),
                testing::AnyOf(testing::StartsWith(MakeString("world \"cw\" has size ", 2 + rank)),
                               testing::StartsWith("world \"cw\" (rank ")));
  });
}

TEST_F(ThreadWorldsTest, WorldsOfOtherGenerationsDoNotMeet) {
  const ThreadRanks ranks(2, 200);
  RunRanks(2, [&](int rank) {
    WorldOptions options = ranks.Options(rank);
    options.generation = rank;
    std::string message;
    EXPECT_THAT(LostBy([&] { (void)CommonWorld::Create(options, ranks.Store()); }, &message),
                ElementsAre(1 - rank));
    EXPECT_THAT(message, testing::StartsWith(MakeString(
                             "world \"cw\" (rank ", rank, " of 2) cannot be created: rank ",
                             1 - rank, " did not come within 200 ms: no key in ")));
  });
}

}  // namespace
}  // namespace caffe2rt::test::thread_worlds_test
