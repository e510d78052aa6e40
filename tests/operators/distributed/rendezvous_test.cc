#include "operators/distributed/rendezvous.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace caffe2rt::test::rendezvous_test
