#include "operators/distributed/connections.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace caffe2rt::test::connections_test {
namespace {

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
  for (int turn = 0; turn < kConnections && welcomed < connections.size(); ++turn) {
    reception.Turn([&welcomed](UniqueFd connection, std::string_view greeting) {
      EXPECT_TRUE(connection.is_open());
      EXPECT_EQ(greeting, "hello");
      ++welcomed;
    });
  }
  EXPECT_EQ(welcomed, connections.size());
}

TEST(ReceptionTest, ClosesTheOldestOfManyThatSayNothing) {
  constexpr int kConnections = 70, kKept = 64;
  std::vector<UniqueFd> listeners = Listeners();
  std::vector<UniqueFd> connections;
  for (int i = 0; i < kConnections; ++i)
    connections.push_back(ConnectTo("127.0.0.1", PortOf(listeners[0].get()), [] {}));
  Reception reception(std::move(listeners), 5);
  for (int turn = 0; turn < 10; ++turn) reception.Turn([](UniqueFd, std::string_view) { FAIL(); });
  size_t welcomed = 0;
  for (const UniqueFd& connection : connections) SendAll(connection.get(), "hello");
  for (int turn = 0; turn < 10; ++turn)
    reception.Turn([&welcomed](UniqueFd, std::string_view) { ++welcomed; });
  EXPECT_EQ(welcomed, static_cast<size_t>(kKept));
}

}  // namespace
}  // namespace caffe2rt::test::connections_test
