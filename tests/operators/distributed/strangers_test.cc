// Strangers on the port of a rank, and in place of one.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/io/atomic_file.h"
#include "operators/distributed/connections.h"
#include "operators/distributed/control_frame.h"
#include "tests/operators/distributed/rank_processes.h"

namespace caffe2rt::test::strangers_test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr char kKeyFile[] = "run/world%2fgeneration_0%2frank_0";

sockaddr_in Local(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

int PortIn(const std::string& record) {
  const std::string field = " port=";
  return std::stoi(record.substr(record.find(field) + field.size()));
}

// A connection on which a stranger has said something; open as long as this exists.
UniqueFd SayTo(int port, std::string_view what) {
  UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in address = Local(port);
  EXPECT_EQ(connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  (void)!send(fd.get(), what.data(), what.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  return fd;
}

// The magic is right, but not the token from the store.
Hello WrongHello() {
  Hello hello{};
  std::memcpy(hello.magic, Hello::kMagic, sizeof(hello.magic));
  hello.world = HashOf("world");
  hello.size = 2;
  hello.rank = 1;
  return hello;
}

TEST(StrangersTest, DoNotKeepRanksFromMeeting) {
  RankProcesses ranks;
  ranks.Start("meet", 0, 2, 20000);
  ranks.WaitForKeyOrOutput(0, kKeyFile, "\n");
  const int port = PortIn(ReadWholeFile(ranks.folder().path(kKeyFile)));
  const Hello wrong = WrongHello();
  std::vector<UniqueFd> strangers;
  strangers.push_back(SayTo(port, ""));
  strangers.push_back(SayTo(port, "GET / HTTP/1.1\r\n\r\n"));
  strangers.push_back(SayTo(port, std::string(100000, '\xff')));
  strangers.push_back(SayTo(port, BytesOf(wrong)));
  ranks.Start("meet", 1, 2, 20000);
  for (const RankResult& result : ranks.Wait()) EXPECT_EQ(result.out, "done\n");
}

// The key of rank 0 names a port on which somebody else answers.
TEST(StrangersTest, AreNotTakenForRanks) {
  const UniqueFd listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = Local(0);
  socklen_t length = sizeof(address);
  ASSERT_EQ(bind(listener.get(), reinterpret_cast<sockaddr*>(&address), length), 0);
  ASSERT_EQ(listen(listener.get(), 8), 0);
  ASSERT_EQ(getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &length), 0);
  std::thread stranger([&listener] {
    while (true) {
      const UniqueFd fd(accept(listener.get(), nullptr, nullptr));
      if (!fd.is_open()) return;
      (void)!send(fd.get(), std::string(4096, 'x').data(), 4096, MSG_NOSIGNAL);
    }
  });
  // Also a machine or a container that has this one's name, and so no process whose end shows here.
  char here[256] = {};
  ASSERT_EQ(gethostname(here, sizeof(here) - 1), 0);
  for (const char* const host : {"elsewhere", static_cast<const char*>(here)}) {
    RankProcesses ranks;
    std::filesystem::create_directory(ranks.folder().path("run"));
    ranks.folder().Write(
        kKeyFile,
        MakeString("host=", host, " place=there process=1 start=1 address=127.0.0.1 port=",
                   ntohs(address.sin_port), " size=2 generation=0 token=7"));
    ranks.Start("meet", 1, 2, 1000);
    const RankResult result = ranks.Wait()[0];
    EXPECT_THAT(result.out, StartsWith("lost 0: world \"world\" (rank 1 of 2) cannot be created"));
    EXPECT_THAT(result.out, HasSubstr("rank 0 did not answer within 1000 ms"));
  }
  shutdown(listener.get(), SHUT_RDWR);
  stranger.join();
}

// The ports on which a process listens, as the kernel's table states them.
std::vector<int> PortsOf(pid_t pid) {
  std::set<std::string> inodes;
  std::error_code gone;
  for (const auto& entry :
       std::filesystem::directory_iterator(MakeString("/proc/", pid, "/fd"), gone)) {
    const std::string target = std::filesystem::read_symlink(entry.path(), gone).string();
    if (target.starts_with("socket:[")) inodes.insert(target.substr(8, target.size() - 9));
  }
  std::vector<int> ports;
  std::ifstream table("/proc/net/tcp");
  std::string line;
  while (std::getline(table, line)) {
    std::string number, local, remote, state, queues, timer, retransmits, user, timeout, inode;
    std::stringstream(line) >> number >> local >> remote >> state >> queues >> timer >>
        retransmits >> user >> timeout >> inode;
    if (state == "0A" && inodes.contains(inode))
      ports.push_back(std::stoi(local.substr(local.find(':') + 1), nullptr, 16));
  }
  return ports;
}

// Also on those of Gloo, which ends the process if it hears them.
TEST(StrangersTest, OnAnyPortWhileRanksMeetAreNotHeard) {
  for (int round = 0; round < 3; ++round) {
    RankProcesses ranks("meet", 3, 20000);
    std::atomic<bool> stop{false};
    std::thread attack([&] {
      std::vector<UniqueFd> strangers;
      while (!stop) {
        for (size_t rank = 0; rank < 3; ++rank) {
          for (const int port : PortsOf(ranks.pid(rank))) {
            UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
            const sockaddr_in address = Local(port);
            (void)connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address));
            (void)!send(fd.get(), std::string(4096, 'x').data(), 4096, MSG_NOSIGNAL);
            strangers.push_back(std::move(fd));
          }
        }
      }
    });
    for (size_t rank = 0; rank < 3; ++rank) ranks.WaitForKeyOrOutput(rank, "", "\n");
    stop = true;
    attack.join();
    for (const RankResult& result : ranks.Wait()) EXPECT_EQ(result.out, "done\n");
  }
}

}  // namespace
}  // namespace caffe2rt::test::strangers_test
