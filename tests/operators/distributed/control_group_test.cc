#include "operators/distributed/control_group.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "operators/distributed/common_world.h"
#include "operators/distributed/control_frame.h"

namespace caffe2rt::test::control_group_test {
namespace {

// Rank 1 of two, of which only the frames exist.
class FramesOfRank1 {
 public:
  FramesOfRank1() { EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends_), 0); }
  ~FramesOfRank1() { close(ends_[1]); }
  // What rank 0 takes over.
  Meeting MeetingOfRank0() const {
    Meeting meeting;
    meeting.connections.emplace_back();
    meeting.connections.emplace_back(ends_[0]);
    return meeting;
  }
  // All frames in one piece.
  void Send(const std::string& frames) {
    EXPECT_EQ(write(ends_[1], frames.data(), frames.size()), static_cast<ssize_t>(frames.size()));
  }
  // Asks rank 0 for what it is doing until that is something.
  void WaitUntilRank0IsBusy() {
    for (FrameHeader header{}; header.bytes == 0;) {
      Send(FrameOf(FrameKind::kPing, ""));
      Read(&header, sizeof(header));
      ASSERT_EQ(header.kind, static_cast<uint32_t>(FrameKind::kPong));
      std::string text(header.bytes, ' ');
      Read(text.data(), text.size());
    }
  }

 private:
  void Read(void* to, size_t bytes) {
    if (bytes == 0) return;
    EXPECT_EQ(recv(ends_[1], to, bytes, MSG_WAITALL), static_cast<ssize_t>(bytes));
  }

  int ends_[2] = {-1, -1};
};

// A rank may send and leave before its message is looked at.
TEST(ControlGroupTest, AMessageThatWasSentBeforeItsRankLeftIsReceived) {
  struct Case {
    int wanted, sent;
    bool received;
  };
  for (const Case& c : {Case{5, 5, true}, {-1, 5, true}, {4, 5, false}}) {
    SCOPED_TRACE(c.wanted);
    FramesOfRank1 sender;
    ControlGroup group({.name = "cw",
                        .rank = 0,
                        .size = 2,
                        .generation = 0,
                        .timeout = std::chrono::seconds(20),
                        .interface = ""},
                       sender.MeetingOfRank0());
    auto received = std::async(std::launch::async, [&] {
      ControlGroup::Operation operation(&group, "Receive", 1, 0, c.wanted);
      MessageHeader header{};
      EXPECT_EQ(group.WaitForMessage(&operation, 1, c.wanted, &header), 1);
      return header.tag;
    });
    sender.WaitUntilRank0IsBusy();
    const MessageHeader message{.number = 0, .tag = c.sent, .type = 1, .num_dims = 0, .dims = {}};
    sender.Send(FrameOf(FrameKind::kMessage, BytesOf(message)) + FrameOf(FrameKind::kGoodbye, ""));
    if (c.received) {
      EXPECT_EQ(received.get(), c.sent);
      EXPECT_THAT(group.lost_ranks(), testing::IsEmpty());
    } else {
      try {
        received.get();
        ADD_FAILURE() << "no exception";
      } catch (const RanksLost& lost) {
        EXPECT_THAT(lost.ranks(), testing::ElementsAre(1));
        EXPECT_THAT(lost.what(), testing::HasSubstr("it has left the world"));
      }
    }
    sender.Send(FrameOf(FrameKind::kAck, ""));
  }
}

// What rank 0 reports of a barrier of world 7 whose other rank sends the frames.
std::string BarrierError(const std::vector<std::string>& pieces, std::vector<int>* lost) {
  FramesOfRank1 sender;
  ControlGroup group({.name = "cw",
                      .rank = 0,
                      .size = 2,
                      .generation = 0,
                      .timeout = std::chrono::seconds(20),
                      .interface = ""},
                     sender.MeetingOfRank0());
  auto reported = std::async(std::launch::async, [&]() -> std::string {
    try {
      ControlGroup::Operation operation(&group, "Barrier", ControlGroup::kAllRanks, 7);
      group.Agree(&operation, Signature{.world = 7, .sequence = 1, .label = "own"}, "cw");
      return "";
    } catch (const RanksLost& error) {
      *lost = error.ranks();
      return error.message();
    } catch (const EnforceNotMet& error) {
      return error.message();
    }
  });
  for (const std::string& piece : pieces) sender.Send(piece);
  const std::string text = reported.get();
  sender.Send(FrameOf(FrameKind::kAck, ""));
  return text;
}

TEST(ControlGroupTest, FramesMayComeInPiecesAndWithOthersThatMeanNothing) {
  std::vector<int> lost;
  const Signature same{.world = 7, .sequence = 1, .label = "own"}, other{.world = 8, .label = "x"};
  const std::string frame = FrameOf(FrameKind::kSignature, BytesOf(same));
  EXPECT_EQ(BarrierError({frame}, &lost), "");
  EXPECT_EQ(BarrierError({frame.substr(0, 3), frame.substr(3, 20), frame.substr(23)}, &lost), "");
  EXPECT_EQ(BarrierError({FrameOf(FrameKind::kSignature, "short") +
                          FrameOf(FrameKind::kMessage, "short") + FrameOf(FrameKind(99), "?") +
                          FrameOf(FrameKind::kSignature, BytesOf(other)) + frame},
                         &lost),
            "");
  EXPECT_THAT(lost, testing::IsEmpty());
}

TEST(ControlGroupTest, ALabelWithoutAnEndIsCut) {
  std::vector<int> lost;
  Signature other{.world = 7, .sequence = 1, .label = {}};
  std::fill(std::begin(other.label), std::end(other.label), 'l');
  EXPECT_EQ(BarrierError({FrameOf(FrameKind::kSignature, BytesOf(other))}, &lost),
            "world \"cw\": the ranks started different operations as number 1: rank 0 started "
            "Barrier \"own\", rank 1 started Barrier \"" +
                std::string(67, 'l') + "\"");
}

// A frame that is larger than any other ends the connection.
TEST(ControlGroupTest, AFrameThatIsTooLargeLosesItsRank) {
  std::vector<int> lost;
  const FrameHeader header{static_cast<uint32_t>(FrameKind::kPing), kMostFrameBytes + 1};
  EXPECT_EQ(BarrierError({std::string(BytesOf(header))}, &lost),
            "world \"cw\" (rank 0 of 2), Barrier: rank 1 did not answer: its connection closed, so "
            "its process ended");
  EXPECT_THAT(lost, testing::ElementsAre(1));
}

TEST(ControlGroupTest, RanksThatTheWorldDoesNotHaveAreNotLost) {
  std::vector<int> lost;
  EXPECT_EQ(
      BarrierError({FrameOf(FrameKind::kFailed, EncodeFailure({{-1, 0, 2, 1, 99}, "it gave up"}))},
                   &lost),
      "world \"cw\" (rank 0 of 2), Barrier: ranks 0, 1 did not answer: it gave up");
  EXPECT_THAT(lost, testing::ElementsAre(0, 1));
  EXPECT_EQ(BarrierError({FrameOf(FrameKind::kFailed, EncodeFailure({{}, "it gave up"}))}, &lost),
            "world \"cw\" (rank 0 of 2), Barrier: it gave up");
  EXPECT_THAT(lost, testing::IsEmpty());
}

// Ranks 1 to 4 of five, of which only the ends of the connections to rank 0 exist.
class EndsOfRanks {
 public:
  EndsOfRanks() {
    meeting_.connections.emplace_back();
    for (int& end : ends_) {
      int pair[2] = {-1, -1};
      EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
      meeting_.connections.emplace_back(pair[0]);
      end = pair[1];
    }
  }
  ~EndsOfRanks() { Close(); }
  Meeting TakeMeeting() { return std::move(meeting_); }
  void Close() {
    for (int& end : ends_) {
      if (end >= 0) close(std::exchange(end, -1));
    }
  }
  void Send(int rank, const std::string& frames) {
    EXPECT_EQ(write(EndOf(rank), frames.data(), frames.size()),
              static_cast<ssize_t>(frames.size()));
  }
  // The body of the next frame of that kind. THROWS if the connection ends before it.
  std::string BodyOfNext(int rank, FrameKind kind) {
    while (true) {
      FrameHeader header{};
      if (recv(EndOf(rank), &header, sizeof(header), MSG_WAITALL) != sizeof(header))
        throw std::runtime_error("the connection has ended");
      std::string body(header.bytes, ' ');
      if (!body.empty()) (void)recv(EndOf(rank), body.data(), body.size(), MSG_WAITALL);
      if (header.kind == static_cast<uint32_t>(kind)) return body;
    }
  }

 private:
  int EndOf(int rank) const { return ends_[rank - 1]; }

  Meeting meeting_;
  int ends_[4] = {-1, -1, -1, -1};
};

// The monitor of a loaded machine gets late to what has arrived.
TEST(ControlGroupTest, ReportsThatWaitForTheMonitorCount) {
  EndsOfRanks ends;
  ControlGroup group({.name = "cw",
                      .rank = 0,
                      .size = 5,
                      .generation = 0,
                      .timeout = std::chrono::seconds(20),
                      .interface = ""},
                     ends.TakeMeeting());
  const auto failed = [](int lost) {
    return FrameOf(FrameKind::kFailed, EncodeFailure({{lost}, "reason"}));
  };
  std::promise<void> stopped, go_on;
  group.OnLoss([&] {
    stopped.set_value();
    go_on.get_future().wait();
  });
  ends.Send(1, failed(4));
  stopped.get_future().wait();
  ends.Send(2, failed(3));
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  go_on.set_value();
  try {
    ControlGroup::Operation operation(&group, "Receive", 3, 0, 7);
    ADD_FAILURE() << "no exception";
  } catch (const RanksLost& lost) {
    EXPECT_THAT(lost.ranks(), testing::ElementsAre(3, 4));
  }
  ends.Close();
}

TEST(ControlGroupTest, LostRanksOfSeveralReportsAreSortedAndHandedOn) {
  EndsOfRanks ends;
  ControlGroup group({.name = "cw",
                      .rank = 0,
                      .size = 5,
                      .generation = 0,
                      .timeout = std::chrono::seconds(20),
                      .interface = ""},
                     ends.TakeMeeting());
  EXPECT_THAT(group.lost_ranks(), testing::IsEmpty());
  const auto failed = [](const std::vector<int>& lost, const std::string& reason) {
    return FrameOf(FrameKind::kFailed, EncodeFailure({lost, reason}));
  };
  // The second report follows at once; ranks that the world does not have are left out.
  ends.Send(1, failed({4}, "the first reason") + failed({9, 2, 4, -1}, "the second reason") +
                   FrameOf(FrameKind::kPing, ""));
  (void)ends.BodyOfNext(1, FrameKind::kPong);
  EXPECT_THAT(group.lost_ranks(), testing::ElementsAre(2, 4));
  for (const int rank : {2, 3, 4}) {
    const GroupFailure failure = DecodeFailure(ends.BodyOfNext(rank, FrameKind::kFailed));
    EXPECT_THAT(failure.lost, testing::ElementsAre(4));
    EXPECT_EQ(failure.reason, "the first reason");
  }
  try {
    ControlGroup::Operation operation(&group, "Receive", 3, 0, 7);
    MessageHeader header{};
    (void)group.WaitForMessage(&operation, 3, 7, &header);
    ADD_FAILURE() << "no exception";
  } catch (const RanksLost& lost) {
    EXPECT_THAT(lost.ranks(), testing::ElementsAre(2, 4));
    EXPECT_THAT(lost.what(), testing::HasSubstr("did not answer: the first reason"));
  }
  ends.Close();
}

}  // namespace
}  // namespace caffe2rt::test::control_group_test
