#include "operators/distributed/rendezvous.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <ifaddrs.h>
#include <netinet/in.h>

#include <map>

#include "tests/support/refusals.h"

namespace caffe2rt::test::rendezvous_test {
namespace {

TEST(RendezvousTest, TakesAnAddressAsItIs) {
  EXPECT_EQ(AddressOfInterface(""), "127.0.0.1");
  EXPECT_EQ(AddressOfInterface("127.0.0.1"), "127.0.0.1");
  EXPECT_EQ(AddressOfInterface("192.0.2.7"), "192.0.2.7");
}

TEST(RendezvousTest, RejectsAnUnknownInterface) {
  for (const std::string name : {"no_such_interface", "192.0.2.256", "192.0.2", "::1"}) {
    EXPECT_THAT(MessageOf([&] { (void)AddressOfInterface(name); }),
                testing::StartsWith("interface is \"" + name +
                                    "\", want the name or IPv4 address of one of: "));
  }
}

// The IPv4 addresses of the interfaces of this machine, the first one of each.
std::map<std::string, std::string> AddressesByName() {
  std::map<std::string, std::string> addresses;
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return addresses;
  for (const ifaddrs* one = list; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET) continue;
    const auto* const address = reinterpret_cast<const sockaddr_in*>(one->ifa_addr);
    char text[INET_ADDRSTRLEN] = {};
    inet_ntop(AF_INET, &address->sin_addr, text, sizeof(text));
    addresses.emplace(one->ifa_name, text);
  }
  freeifaddrs(list);
  return addresses;
}

TEST(RendezvousTest, FindsAndListsTheInterfacesOfTheMachine) {
  const std::map<std::string, std::string> addresses = AddressesByName();
  const std::string message = MessageOf([] { (void)AddressOfInterface("no_such_interface"); });
  for (const auto& [name, address] : addresses) {
    EXPECT_EQ(AddressOfInterface(name), address);
    EXPECT_THAT(message, testing::HasSubstr(name + " (" + address + ")"));
  }
}

}  // namespace
}  // namespace caffe2rt::test::rendezvous_test
