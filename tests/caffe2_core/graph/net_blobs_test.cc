#include "caffe2_core/graph/net_blobs.h"

#include "caffe2_core/tensor/blob.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::net_blobs_test {
namespace {

using test::ExpectThrows;
using test::ParseNet;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr uint32_t kNone = NetBlobs::kNone;

std::vector<std::string> Names(const NetBlobs& blobs, std::span<const uint32_t> indices) {
  std::vector<std::string> names;
  for (const uint32_t blob : indices) names.push_back(blobs.name(blob));
  return names;
}

TEST(NetBlobsTest, NumbersEachNameOnceInOrderOfItsFirstUse) {
  const NetDef net = ParseNet(R"(
    op { type: "FC" input: "x" input: "w" input: "x" output: "y" }
    op { type: "Relu" input: "y" output: "y" control_input: "c" control_input: "w" }
    op { type: "Print" })");
  const NetBlobs blobs(net);
  EXPECT_EQ(blobs.num_operators(), 3u);
  EXPECT_EQ(blobs.size(), 4u);
  EXPECT_THAT(blobs.inputs(0), ElementsAre(0, 1, 0));
  EXPECT_THAT(blobs.outputs(0), ElementsAre(2));
  EXPECT_THAT(blobs.control_inputs(0), IsEmpty());
  EXPECT_THAT(blobs.inputs(1), ElementsAre(2));
  EXPECT_THAT(blobs.control_inputs(1), ElementsAre(3, 1));
  EXPECT_THAT(blobs.all(1), ElementsAre(2, 2, 3, 1));
  EXPECT_THAT(blobs.all(2), IsEmpty());
  EXPECT_EQ(blobs.name(3), "c");
  EXPECT_EQ(blobs.Find("w"), 1u);
  EXPECT_EQ(blobs.Find("v"), kNone);
}

TEST(NetBlobsTest, FollowsVersionsOfABlob) {
  const NetDef net = ParseNet(R"(
    op { type: "Relu" input: "x" output: "x" }
    op { type: "Add" input: "x" input: "b" output: "y" }
    op { type: "Copy" input: "y" output: "x" }
    op { type: "Add" input: "x" input: "y" output: "z" })");
  const NetBlobs blobs(net);
  EXPECT_THAT(blobs.input_writers(0), ElementsAre(kNone));  // the operator's own write comes later
  EXPECT_THAT(blobs.input_writers(1), ElementsAre(0, kNone));
  EXPECT_THAT(blobs.input_writers(3), ElementsAre(2, 1));
  const uint32_t x = blobs.Find("x"), b = blobs.Find("b"), z = blobs.Find("z");
  EXPECT_EQ(blobs.first_writer(x), 0u);
  EXPECT_EQ(blobs.last_writer(x), 2u);
  EXPECT_EQ(blobs.last_reader(x), 3u);
  EXPECT_EQ(blobs.first_writer(b), kNone);
  EXPECT_EQ(blobs.last_writer(b), kNone);
  EXPECT_EQ(blobs.last_reader(b), 1u);
  EXPECT_EQ(blobs.last_reader(z), kNone);
}

TEST(NetBlobsTest, KnowsOutputsInPlace) {
  const NetDef net = ParseNet(R"(
    op { type: "Split" input: "a" input: "b" output: "c" output: "b" }
    op { type: "Copy" input: "c" output: "a" control_input: "a" })");
  const NetBlobs blobs(net);
  EXPECT_FALSE(blobs.is_in_place(0, 0));
  EXPECT_TRUE(blobs.is_in_place(0, 1));
  EXPECT_FALSE(blobs.is_in_place(1, 0));  // operator 0 has read it, and control inputs do not count
}

TEST(NetBlobsTest, KnowsWhatGoesIntoANetAndWhatComesOut) {
  const NetDef net = ParseNet(R"(
    op { type: "Relu" input: "x" output: "y" control_input: "never" }
    op { type: "Add" input: "y" input: "w" output: "y" }
    op { type: "Split" input: "x" output: "a" output: "b" output: "a" }
    op { type: "Copy" input: "a" output: "w" })");
  const NetBlobs blobs(net);
  EXPECT_THAT(Names(blobs, blobs.read_first()), ElementsAre("x", "w"));
  EXPECT_THAT(Names(blobs, blobs.written()), ElementsAre("y", "a", "b", "w"));
  EXPECT_THAT(Names(blobs, blobs.unread()), ElementsAre("y", "b", "w"));
  EXPECT_TRUE(blobs.Reads("a"));
  EXPECT_TRUE(blobs.Writes("a"));
  EXPECT_FALSE(blobs.Writes("x"));
  EXPECT_FALSE(blobs.Reads("b"));
  EXPECT_FALSE(blobs.Reads("never"));
  EXPECT_FALSE(blobs.Writes("never"));
  EXPECT_FALSE(blobs.Reads("unknown"));
  EXPECT_FALSE(blobs.Writes("unknown"));
}

TEST(NetBlobsTest, OfAnEmptyNetAreNone) {
  const NetDef net;
  const NetBlobs blobs(net);
  EXPECT_EQ(blobs.num_operators(), 0u);
  EXPECT_EQ(blobs.size(), 0u);
  EXPECT_THAT(blobs.unread(), IsEmpty());
}

// The blobs that an operator of a net is bound to.
struct Bound {
  std::vector<const Blob*> inputs;
  std::vector<Blob*> outputs;
};
std::vector<BoundBlobs> Of(const std::vector<Bound>& bound) {
  std::vector<BoundBlobs> spans;
  for (const Bound& op : bound) spans.push_back({.inputs = op.inputs, .outputs = op.outputs});
  return spans;
}

TEST(NetBlobsTest, NamesOfOneObjectAreOneBlob) {
  const NetDef net = ParseNet(R"(
    op { type: "Copy" input: "x" output: "y" }
    op { type: "Copy" input: "alias" output: "alias" control_input: "alias" })");
  Blob x, y;
  const std::vector<Bound> bound = {{{&x}, {&y}}, {{&y}, {&y}}};
  const NetBlobs blobs(net, Of(bound));
  EXPECT_EQ(blobs.size(), 2u);
  EXPECT_EQ(blobs.Find("alias"), blobs.Find("y"));
  EXPECT_EQ(blobs.name(blobs.Find("alias")), "y");
  EXPECT_THAT(blobs.input_writers(1), ElementsAre(0));
  EXPECT_THAT(blobs.all(1), ElementsAre(1, 1, 1));
  EXPECT_TRUE(blobs.is_in_place(1, 0));
}

TEST(NetBlobsTest, ANameWhoseObjectIsReplacedIsTwoBlobs) {
  const NetDef net = ParseNet(R"(
    op { type: "Copy" input: "x" output: "y" control_input: "z" }
    op { type: "Copy" input: "y" output: "z" }
    op { type: "Copy" input: "y" output: "z" control_input: "z" })");
  Blob x, y, other_y, z, other_z;
  const std::vector<Bound> bound = {{{&x}, {&y}}, {{&other_y}, {&z}}, {{&y}, {&other_z}}};
  const NetBlobs blobs(net, Of(bound));
  EXPECT_EQ(blobs.size(), 5u);
  EXPECT_THAT(blobs.input_writers(1), ElementsAre(kNone));
  EXPECT_THAT(blobs.input_writers(2), ElementsAre(0));
  // A control input is the object that its name was last bound to, counting the operator's own
  // inputs and outputs. If there is none yet, it is the first object that the name is bound to
  // later.
  EXPECT_EQ(blobs.control_inputs(0)[0], blobs.outputs(1)[0]);
  EXPECT_EQ(blobs.control_inputs(2)[0], blobs.outputs(2)[0]);
  EXPECT_NE(blobs.outputs(1)[0], blobs.outputs(2)[0]);
}

TEST(NetBlobsTest, RejectsObjectsThatDoNotFitTheNet) {
  const NetDef net = ParseNet(R"(name: "n" op { type: "Copy" input: "x" output: "y" })");
  Blob x;
  ExpectThrows([&] { NetBlobs(net, std::span<const BoundBlobs>()); },
               "operators bound for net \"n\"");
  const std::vector<Bound> bound = {{{&x}, {}}};
  ExpectThrows([&] { NetBlobs(net, Of(bound)); },
               "operator 0 (Copy) of net \"n\" is bound to 1 input and 0 outputs, want 1 and 1");
}

}  // namespace
}  // namespace caffe2rt::net_blobs_test
