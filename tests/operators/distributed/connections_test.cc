#include "operators/distributed/connections.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "caffe2_core/base/enforce.h"
#include "tests/support/refusals.h"
#include "tests/support/wait_for.h"

namespace caffe2rt::test::connections_test {
namespace {

// Turns until the condition is true, for a time that is long enough for any machine.
template <class Welcome, class Condition>
bool TurnUntil(Reception* reception, const Welcome& welcome, const Condition& condition) {
  return WaitFor([&] {
    reception->Turn(welcome);
    return condition();
  });
}

// Whether the other side has closed the connection. Reads nothing.
bool IsClosed(const UniqueFd& connection) {
  char byte;
  return recv(connection.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

std::vector<UniqueFd> Listeners() {
  std::vector<UniqueFd> listeners;
  listeners.push_back(ListenOn("127.0.0.1"));
  listeners.push_back(ListenLocally());
  return listeners;
}

TEST(ReceptionTest, WelcomesAllThatGreetAtOnce) {
  constexpr int kConnections = 100;
  std::vector<UniqueFd> listeners = Listeners();
  std::vector<UniqueFd> connections;
  for (int i = 0; i < kConnections; ++i) {
    connections.push_back(ConnectTo("127.0.0.1", PortOf(listeners[0].get()), [] {}));
    connections.push_back(ConnectLocally(LocalNameOf(listeners[1].get()), [] {}));
  }
  for (const UniqueFd& connection : connections) ASSERT_TRUE(SendAll(connection.get(), "hello"));
  Reception reception(std::move(listeners), 5);
  size_t welcomed = 0;
  const auto welcome = [&welcomed](UniqueFd connection, std::string_view greeting) {
    EXPECT_TRUE(connection.is_open());
    EXPECT_EQ(greeting, "hello");
    ++welcomed;
  };
  EXPECT_TRUE(TurnUntil(&reception, welcome, [&] { return welcomed >= connections.size(); }));
  EXPECT_EQ(welcomed, connections.size());
}

TEST(ReceptionTest, ClosesTheOldestOfManyThatSayNothing) {
  constexpr size_t kConnections = 70, kKept = 64;
  std::vector<UniqueFd> listeners = Listeners();
  std::vector<UniqueFd> connections;
  for (size_t i = 0; i < kConnections; ++i)
    connections.push_back(ConnectTo("127.0.0.1", PortOf(listeners[0].get()), [] {}));
  Reception reception(std::move(listeners), 5);
  const auto fail = [](UniqueFd, std::string_view) { FAIL(); };
  EXPECT_TRUE(TurnUntil(&reception, fail, [&connections] {
    return std::count_if(connections.begin(), connections.end(), &IsClosed) ==
           std::ptrdiff_t{kConnections - kKept};
  }));
  size_t welcomed = 0;
  const auto welcome = [&welcomed](UniqueFd, std::string_view) { ++welcomed; };
  for (const UniqueFd& connection : connections) SendAll(connection.get(), "hello");
  EXPECT_TRUE(TurnUntil(&reception, welcome, [&welcomed] { return welcomed >= kKept; }));
  for (int turn = 0; turn < 10; ++turn) reception.Turn(welcome);
  EXPECT_EQ(welcomed, kKept);
}

// Both ends of a connection.
struct Connection {
  UniqueFd near, far;
};
Connection LocalConnection() {
  int ends[2] = {-1, -1};
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

TEST(ReceptionTest, WaitsForTheRestOfAGreetingAndLeavesWhatFollows) {
  std::vector<UniqueFd> listeners = Listeners();
  const UniqueFd early = ConnectTo("127.0.0.1", PortOf(listeners[0].get()), [] {});
  const UniqueFd late = ConnectTo("127.0.0.1", PortOf(listeners[0].get()), [] {});
  Reception reception(std::move(listeners), 300);
  const std::string greeting = std::string(150, 'a') + std::string(150, 'b');
  std::vector<UniqueFd> welcomed;
  const auto turns = [&](size_t wanted) {
    const auto welcome = [&](UniqueFd connection, std::string_view text) {
      EXPECT_EQ(text, greeting);
      welcomed.push_back(std::move(connection));
    };
    EXPECT_TRUE(TurnUntil(&reception, welcome, [&] { return welcomed.size() >= wanted; }));
    for (int turn = 0; turn < 5; ++turn) reception.Turn(welcome);
  };
  ASSERT_TRUE(SendAll(late.get(), greeting.substr(0, 299)));
  ASSERT_TRUE(SendAll(early.get(), greeting + "more"));
  turns(1);
  ASSERT_EQ(welcomed.size(), 1u);
  char rest[4];
  EXPECT_TRUE(ReceiveAll(welcomed[0].get(), rest, 4, [] {}));
  EXPECT_EQ(std::string_view(rest, 4), "more");
  ASSERT_TRUE(SendAll(late.get(), "b"));
  turns(2);
  EXPECT_EQ(welcomed.size(), 2u);
}

TEST(ReceptionTest, DropsThoseThatCloseBeforeTheirGreetingIsComplete) {
  std::vector<UniqueFd> listeners = Listeners();
  UniqueFd brief = ConnectLocally(LocalNameOf(listeners[1].get()), [] {});
  ASSERT_TRUE(SendAll(brief.get(), "hell"));
  brief.Reset();
  Reception reception(std::move(listeners), 5);
  for (int turn = 0; turn < 5; ++turn) reception.Turn([](UniqueFd, std::string_view) { FAIL(); });
}

TEST(ReceptionTest, ClosesWelcomedConnectionsWithoutAnOwner) {
  std::vector<UniqueFd> listeners = Listeners();
  const UniqueFd connection = ConnectTo("127.0.0.1", PortOf(listeners[0].get()), [] {});
  ASSERT_TRUE(SendAll(connection.get(), "hello"));
  Reception reception(std::move(listeners), 5);
  bool welcomed = false;
  const auto welcome = [&welcomed](const UniqueFd&, std::string_view) { welcomed = true; };
  ASSERT_TRUE(TurnUntil(&reception, welcome, [&welcomed] { return welcomed; }));
  char byte;
  EXPECT_FALSE(ReceiveAll(connection.get(), &byte, 1, [] {}));
}

TEST(ConnectionsTest, ListensOnTheAddressOnly) {
  for (const std::string address : {"127.0.0.1", "127.0.0.2"}) {
    const UniqueFd listener = ListenOn(address);
    sockaddr_in name{};
    socklen_t length = sizeof(name);
    ASSERT_EQ(getsockname(listener.get(), reinterpret_cast<sockaddr*>(&name), &length), 0);
    char text[INET_ADDRSTRLEN] = {};
    inet_ntop(AF_INET, &name.sin_addr, text, sizeof(text));
    EXPECT_EQ(text, address);
    EXPECT_EQ(PortOf(listener.get()), ntohs(name.sin_port));
    EXPECT_GT(PortOf(listener.get()), 0);
  }
}

TEST(ConnectionsTest, RejectsAddressesOnWhichItCannotListen) {
  ExpectRefusals(
      {{[] { (void)ListenOn("localhost"); }, "address \"localhost\" is not an IPv4 address"},
       {[] { (void)ListenOn(""); }, "address \"\" is not an IPv4 address"},
       {[] { (void)ListenOn("192.0.2.1"); },
        "cannot listen on 192.0.2.1: Cannot assign requested address"},
       {[] { (void)PortOf(-1); }, "a listening socket has no address: Bad file descriptor"},
       {[] { (void)LocalNameOf(-1); }, "a listening socket has no name: Bad file descriptor"}});
}

TEST(ConnectionsTest, ConnectsOnlyToListeners) {
  UniqueFd listener = ListenOn("127.0.0.1");
  const int port = PortOf(listener.get());
  EXPECT_TRUE(ConnectTo("127.0.0.1", port, [] {}).is_open());
  listener.Reset();
  EXPECT_FALSE(ConnectTo("127.0.0.1", port, [] {}).is_open());
  EXPECT_FALSE(ConnectTo("localhost", port, [] {}).is_open());
  listener = ListenLocally();
  const std::string name = LocalNameOf(listener.get());
  EXPECT_TRUE(ConnectLocally(name, [] {}).is_open());
  listener.Reset();
  EXPECT_FALSE(ConnectLocally(name, [] {}).is_open());
  EXPECT_FALSE(ConnectLocally("", [] {}).is_open());
  EXPECT_FALSE(ConnectLocally(std::string(1000, 'x'), [] {}).is_open());
}

TEST(ConnectionsTest, DataOfConnectionsAreSentAtOnce) {
  const UniqueFd listener = ListenOn("127.0.0.1");
  const UniqueFd connection = ConnectTo("127.0.0.1", PortOf(listener.get()), [] {});
  for (const auto& [level, option] : {std::pair<int, int>(IPPROTO_TCP, TCP_NODELAY),
                                      std::pair<int, int>(SOL_SOCKET, SO_KEEPALIVE)}) {
    int on = 0;
    socklen_t length = sizeof(on);
    ASSERT_EQ(getsockopt(connection.get(), level, option, &on, &length), 0);
    EXPECT_EQ(on, 1);
  }
}

TEST(ConnectionsTest, LocalListenersHaveNamesOfTheirOwn) {
  const UniqueFd one = ListenLocally(), other = ListenLocally();
  EXPECT_NE(LocalNameOf(one.get()), LocalNameOf(other.get()));
  EXPECT_EQ(LocalNameOf(one.get())[0], '\0');
}

TEST(ConnectionsTest, ReceivesExactlyTheBytesThatItIsToReceive) {
  Connection ends = LocalConnection();
  ASSERT_TRUE(SendAll(ends.far.get(), "abcdef"));
  std::array<char, 5> to{};
  EXPECT_TRUE(ReceiveAll(ends.near.get(), to.data(), 4, [] {}));
  EXPECT_EQ(std::string(to.data(), 5), std::string("abcd\0", 5));
  EXPECT_TRUE(ReceiveAll(ends.near.get(), to.data(), 0, [] {}));
  ends.far.Reset();
  EXPECT_FALSE(ReceiveAll(ends.near.get(), to.data(), 3, [] {}));
  EXPECT_EQ(std::string(to.data(), 2), "ef");
}

TEST(ConnectionsTest, WaitsForBytesUntilTheCheckThrows) {
  const Connection ends = LocalConnection();
  ASSERT_TRUE(SendAll(ends.far.get(), "a"));
  int checks = 0;
  char to[2] = {};
  EXPECT_THROW(ReceiveAll(ends.near.get(), to, 2,
                          [&] {
                            if (++checks == 3) throw std::runtime_error("enough");
                          }),
               std::runtime_error);
  EXPECT_EQ(checks, 3);
  EXPECT_EQ(to[0], 'a');
}

TEST(ConnectionsTest, SendsAllOrReportsThatThePeerIsGone) {
  Connection ends = LocalConnection();
  const std::string much(1 << 22, 'x');
  EXPECT_FALSE(SendAll(ends.near.get(), much));  // after a second
  ends = LocalConnection();
  ends.far.Reset();
  EXPECT_FALSE(SendAll(ends.near.get(), "x"));
  EXPECT_TRUE(SendAll(ends.near.get(), ""));
}

TEST(ConnectionsTest, SendsMoreThanTheConnectionHoldsToAReader) {
  using Clock = std::chrono::steady_clock;
  std::string much(1 << 22, 'x');
  for (size_t i = 0; i < much.size(); i += 1000) much[i] = static_cast<char>('a' + i / 1000 % 26);
  // On a busy machine the reader may be late by the second that the sender waits. Then once more.
  for (int attempt = 0; attempt < 20; ++attempt) {
    Connection ends = LocalConnection();
    std::string got(much.size(), ' ');
    bool received = false;
    std::thread reader(
        [&] { received = ReceiveAll(ends.far.get(), got.data(), got.size(), [] {}); });
    const Clock::time_point start = Clock::now();
    const bool sent = SendAll(ends.near.get(), much);
    const bool is_late = Clock::now() - start >= std::chrono::milliseconds(900);
    ends.near.Reset();  // ends the reader if not all was sent
    reader.join();
    if (!sent && is_late) continue;
    EXPECT_TRUE(sent && received);
    EXPECT_TRUE(got == much);
    return;
  }
  FAIL() << "the reader was always late";
}

bool IsOpenFd(int fd) { return fcntl(fd, F_GETFD) >= 0; }

TEST(UniqueFdTest, ClosesWhatItOwnsOnce) {
  Connection ends = LocalConnection();
  const int first = ends.near.get(), second = ends.far.get();
  ends.near = std::move(ends.far);
  EXPECT_FALSE(IsOpenFd(first));
  EXPECT_TRUE(IsOpenFd(second));
  EXPECT_FALSE(ends.far.is_open());
  EXPECT_EQ(ends.near.get(), second);
  UniqueFd& same = ends.near;
  ends.near = std::move(same);
  EXPECT_TRUE(IsOpenFd(second));
  EXPECT_EQ(ends.near.Release(), second);
  EXPECT_FALSE(ends.near.is_open());
  EXPECT_TRUE(IsOpenFd(second));
  { const UniqueFd last(second); }
  EXPECT_FALSE(IsOpenFd(second));
}

TEST(ConnectionsTest, ThePlaceOfAProcessNamesTheMachineAndTheNamespace) {
  const std::string place = PlaceOfThisProcess("net");
  ASSERT_NE(place, "");
  EXPECT_NE(place.find("/net:["), std::string::npos) << place;
  EXPECT_EQ(place.find('\n'), std::string::npos);
  EXPECT_EQ(place, PlaceOfThisProcess("net"));
  const std::string other = PlaceOfThisProcess("pid");
  EXPECT_EQ(place.substr(0, place.find('/')), other.substr(0, other.find('/')));
  EXPECT_NE(place, other);
  EXPECT_EQ(PlaceOfThisProcess("no_such_namespace"), "");
}

}  // namespace
}  // namespace caffe2rt::test::connections_test
