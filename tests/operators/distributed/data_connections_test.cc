// The connections that carry the data of GLOO, and strangers.
#include "operators/distributed/gloo/data_connections.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "caffe2_core/base/enforce.h"

namespace caffe2rt::test::data_connections_test {
namespace {

using testing::HasSubstr;

// The exchange of two ranks that are threads of this process.
class Exchanger {
 public:
  using Change = std::function<void(int rank, std::string* received)>;
  explicit Exchanger(Change change) : change_(std::move(change)) {}

  std::string Swap(int rank, const std::string& message) {
    std::unique_lock<std::mutex> lock(mutex_);
    messages_[static_cast<size_t>(rank)] = message;
    changed_.notify_all();
    std::string& other = messages_[static_cast<size_t>(1 - rank)];
    changed_.wait(lock, [&other] { return !other.empty(); });
    std::string received = other;
    lock.unlock();
    change_(rank, &received);
    return received;
  }

 private:
  const Change change_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::array<std::string, 2> messages_;
};

class Bootstrap final : public TransportBootstrap {
 public:
  Bootstrap(Exchanger* exchanger, int rank) : exchanger_(*exchanger), rank_(rank) {}
  std::vector<std::string> Exchange(const std::vector<std::string>& messages) override {
    const auto other = static_cast<size_t>(1 - rank_);
    std::vector<std::string> received(2);
    received[other] = exchanger_.Swap(rank_, messages[other]);
    return received;
  }
  void OnLoss(std::function<void()> /*abort*/) override {}

 private:
  Exchanger& exchanger_;
  const int rank_;
};

std::vector<UniqueFd> Connect(Exchanger* exchanger, int rank, const WaitCheck& check) {
  Bootstrap bootstrap(exchanger, rank);
  const TransportOptions options{rank, 2, "w", "127.0.0.1", "tcp", std::chrono::seconds(60)};
  return ConnectData(options, bootstrap, check);
}

struct Listening {
  sockaddr_storage name{};
  socklen_t length = sizeof(name);
};

// The listening sockets of this process.
std::vector<Listening> ListeningSockets() {
  constexpr int kMostDescriptors = 1024;
  std::vector<Listening> found;
  for (int fd = 0; fd < kMostDescriptors; ++fd) {
    int listens = 0;
    socklen_t length = sizeof(listens);
    if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &length) != 0 || listens == 0) continue;
    Listening one;
    EXPECT_EQ(getsockname(fd, reinterpret_cast<sockaddr*>(&one.name), &one.length), 0);
    found.push_back(one);
  }
  return found;
}

void SayToAll(const std::vector<Listening>& sockets, const std::string& text,
              std::vector<UniqueFd>* strangers) {
  for (const Listening& one : sockets) {
    UniqueFd fd(socket(one.name.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(connect(fd.get(), reinterpret_cast<const sockaddr*>(&one.name), one.length), 0);
    (void)!send(fd.get(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    strangers->push_back(std::move(fd));
  }
}

void ExpectConnected(const UniqueFd& from, const UniqueFd& to) {
  const std::string sent = "data";
  ASSERT_EQ(send(from.get(), sent.data(), sent.size(), MSG_NOSIGNAL), 4);
  char received[8] = {};
  ASSERT_TRUE(ReceiveAll(to.get(), received, sent.size(), [] {}));
  EXPECT_EQ(received, sent);
}

TEST(DataConnectionsTest, StrangersOnThePortsOfRanksAreNotTakenForRanks) {
  const size_t before = ListeningSockets().size();
  std::vector<UniqueFd> strangers;
  Exchanger exchanger([&strangers](int rank, std::string* /*received*/) {
    if (rank != 1) return;
    // Both ranks listen, and rank 1 has not connected yet.
    const std::vector<Listening> sockets = ListeningSockets();
    for (int i = 0; i < 80; ++i) SayToAll(sockets, "", &strangers);
    SayToAll(sockets, "GET / HTTP/1.1\r\n\r\n", &strangers);
    SayToAll(sockets, std::string(100000, '\xff'), &strangers);
    SayToAll(sockets, std::string(48, '\0'), &strangers);
    // The right beginning and rank, but another secret.
    SayToAll(sockets, "c2rtgl01" + std::string(16, 's') + std::string("\1\0\0\0\0\0\0\0", 8),
             &strangers);
    // Ranks that do not connect to either, or do not exist.
    for (const int32_t other : {0, 2, -1, INT32_MAX, INT32_MIN}) {
      std::string bytes(8, '\0');
      std::memcpy(bytes.data(), &other, sizeof(other));
      SayToAll(sockets, "c2rtgl01" + std::string(16, 's') + bytes, &strangers);
    }
  });
  std::vector<UniqueFd> first;
  std::thread rank0([&] { first = Connect(&exchanger, 0, [] {}); });
  const std::vector<UniqueFd> second = Connect(&exchanger, 1, [] {});
  rank0.join();
  ExpectConnected(first[1], second[0]);
  ExpectConnected(second[0], first[1]);
  EXPECT_EQ(ListeningSockets().size(), before) << "nobody listens after all have met";
}

TEST(DataConnectionsTest, RanksOnOneMachineUseLocalSocketsAndOthersTcp) {
  for (const bool is_near : {true, false}) {
    // A machine that started at another time is another machine.
    Exchanger exchanger([is_near](int /*rank*/, std::string* received) {
      const size_t space = received->find("/net:[");
      ASSERT_NE(space, std::string::npos);
      if (!is_near) (*received)[space - 1] = '?';
    });
    std::vector<UniqueFd> first;
    std::thread rank0([&] { first = Connect(&exchanger, 0, [] {}); });
    const std::vector<UniqueFd> second = Connect(&exchanger, 1, [] {});
    rank0.join();
    ExpectConnected(first[1], second[0]);
    int family = 0;
    socklen_t length = sizeof(family);
    ASSERT_EQ(getsockopt(second[0].get(), SOL_SOCKET, SO_DOMAIN, &family, &length), 0);
    EXPECT_EQ(family, is_near ? AF_UNIX : AF_INET);
  }
}

// Rank 1 has another secret than rank 0 gave it: who listens there is not the rank that it talked to.
TEST(DataConnectionsTest, ARankThatDoesNotKnowTheSecretIsAnError) {
  Exchanger exchanger([](int rank, std::string* received) {
    if (rank == 1) (*received)[0] = static_cast<char>((*received)[0] ^ 1);
  });
  std::atomic<bool> stop{false};
  std::thread rank0([&] {
    const WaitCheck check = [&stop] {
      if (stop) throw std::runtime_error("stopped");
    };
    EXPECT_THROW(Connect(&exchanger, 0, check), std::runtime_error);
  });
  try {
    Connect(&exchanger, 1, [] {});
    ADD_FAILURE() << "rank 1 has connected";
  } catch (const EnforceNotMet& error) {
    EXPECT_THAT(error.message(), HasSubstr("rank 0 does not answer at 127.0.0.1 port "));
  }
  stop = true;
  rank0.join();
}

}  // namespace
}  // namespace caffe2rt::test::data_connections_test
