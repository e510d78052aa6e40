#include "operators/distributed/control_frame.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "caffe2_core/tensor/data_type.h"
#include "tests/support/refusals.h"

namespace caffe2rt::test::control_frame_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Signature SignatureOf(CollectiveKind kind, std::string_view label, uint64_t count = 10) {
  Signature signature{
      .sequence = 3, .count = count, .kind = kind, .type = TensorProto_DataType_FLOAT};
  label.copy(signature.label, sizeof(signature.label) - 1);
  return signature;
}

TEST(ControlFrameTest, StatesKindAndSizeBeforeTheBody) {
  const std::string frame = FrameOf(FrameKind::kPong, "body!");
  ASSERT_EQ(frame.size(), 13u);
  uint32_t numbers[2];
  ASSERT_TRUE(ParseBytes(std::string_view(frame).substr(0, 8), &numbers));
  EXPECT_THAT(numbers, ElementsAre(5, 5));
  EXPECT_EQ(frame.substr(8), "body!");
  EXPECT_EQ(FrameOf(FrameKind::kGoodbye, "").substr(0, 1), "\x07");
}

TEST(ControlFrameTest, ParsesAnObjectFromExactlyItsBytes) {
  const int32_t number = 0x01020304;
  const std::string bytes(BytesOf(number));
  int32_t parsed = -1;
  EXPECT_FALSE(ParseBytes(std::string_view(bytes).substr(1), &parsed));
  EXPECT_FALSE(ParseBytes(bytes + "x", &parsed));
  EXPECT_FALSE(ParseBytes("", &parsed));
  EXPECT_EQ(parsed, -1);
  EXPECT_TRUE(ParseBytes(bytes, &parsed));
  EXPECT_EQ(parsed, number);
}

TEST(ControlFrameTest, CarriesLostRanksAndTheReason) {
  const GroupFailure failure = DecodeFailure(EncodeFailure({{2, 5}, "no answer"}));
  EXPECT_THAT(failure.lost, ElementsAre(2, 5));
  EXPECT_EQ(failure.reason, "no answer");
  const GroupFailure none = DecodeFailure(EncodeFailure({{}, "all wait"}));
  EXPECT_THAT(none.lost, IsEmpty());
  EXPECT_EQ(none.reason, "all wait");
}

TEST(ControlFrameTest, DecodesAsMuchOfAFailureAsThereIs) {
  const std::string whole = EncodeFailure({{2, 5}, ""});
  EXPECT_THAT(DecodeFailure(whole.substr(0, 8)).lost, ElementsAre(2));
  EXPECT_THAT(DecodeFailure(whole.substr(0, 4)).lost, IsEmpty());
  EXPECT_THAT(DecodeFailure("").lost, IsEmpty());
  EXPECT_THAT(DecodeFailure("").reason, IsEmpty());
}

TEST(ControlFrameTest, HashesTextByFnv1a) {
  EXPECT_EQ(HashOf(""), 0xcbf29ce484222325u);
  EXPECT_EQ(HashOf("a"), 0xaf63dc4c8601ec8cu);
  EXPECT_EQ(HashOf("foobar"), 0x85944171f73967e8u);
  EXPECT_EQ(HashOf("\xff"), (0xcbf29ce484222325u ^ 0xffu) * 0x100000001b3u);
}

TEST(ControlFrameTest, NamesRanks) {
  EXPECT_EQ(RanksText({4}), "rank 4");
  EXPECT_EQ(RanksText({1, 12}), "ranks 1, 12");
}

TEST(ControlFrameTest, NamesOperationsOfAllKinds) {
  const std::pair<CollectiveKind, std::string> names[] = {
      {CollectiveKind::kBarrier, "Barrier"},
      {CollectiveKind::kAllreduce, "Allreduce"},
      {CollectiveKind::kBroadcast, "Broadcast"},
      {CollectiveKind::kReduce, "Reduce"},
      {CollectiveKind::kAllgather, "Allgather"},
      {CollectiveKind::kReduceScatter, "ReduceScatter"},
      {CollectiveKind::kSend, "SendTensor"},
      {CollectiveKind::kReceive, "ReceiveTensor"},
      {CollectiveKind(99), "an unknown operation"},
  };
  for (const auto& [kind, name] : names)
    EXPECT_EQ(OperationText(kind, "w", "cw"), name + " \"w\" of world \"cw\"");
}

TEST(ControlFrameTest, DescribesSignaturesByWhatTheirKindHas) {
  EXPECT_EQ(SignatureText(SignatureOf(CollectiveKind::kBarrier, "b")), "Barrier \"b\"");
  EXPECT_EQ(SignatureText(SignatureOf(CollectiveKind::kAllgather, "g")),
            "Allgather \"g\" of 10 elements of type float");
  Signature rooted = SignatureOf(CollectiveKind::kReduce, "r");
  rooted.root = 2;
  rooted.type = TensorProto_DataType_INT64;
  EXPECT_EQ(SignatureText(rooted), "Reduce \"r\" of 10 elements of type int64 with root 2");
  rooted.kind = CollectiveKind::kBroadcast;
  EXPECT_EQ(SignatureText(rooted), "Broadcast \"r\" of 10 elements of type int64 with root 2");
}

std::string Difference(const Signature& own, const Signature& other) {
  return MessageOf([&] { EnforceEqual({own, own, other}, 1, "cw"); });
}

TEST(ControlFrameTest, EqualSignaturesAreAccepted) {
  const Signature signature = SignatureOf(CollectiveKind::kAllreduce, "w");
  EXPECT_NO_THROW(EnforceEqual({signature, signature}, 0, "cw"));
}

TEST(ControlFrameTest, DifferentSignaturesAreStatedForBothRanks) {
  const Signature own = SignatureOf(CollectiveKind::kAllreduce, "w");
  const std::string start =
      "world \"cw\": the ranks started different operations as number 3: rank 1 started Allreduce "
      "\"w\" of 10 elements of type float, rank 2 started ";
  EXPECT_EQ(Difference(own, SignatureOf(CollectiveKind::kAllreduce, "w", 11)),
            start + "Allreduce \"w\" of 11 elements of type float");
  EXPECT_EQ(Difference(own, SignatureOf(CollectiveKind::kBarrier, "b")), start + "Barrier \"b\"");
  Signature later = own;
  later.sequence = 4;
  EXPECT_EQ(Difference(own, later),
            start + "Allreduce \"w\" of 10 elements of type float as number 4");
}

TEST(ControlFrameTest, DifferentPartsAreStatedOnlyIfNothingElseDiffers) {
  Signature own = SignatureOf(CollectiveKind::kReduceScatter, "s"), other = own;
  own.detail = 1;
  other.detail = 2;
  EXPECT_THAT(Difference(own, other),
              testing::EndsWith("of type float, with other numbers of elements for the ranks"));
  other.count = 11;
  EXPECT_THAT(Difference(own, other), testing::EndsWith("11 elements of type float"));
}

}  // namespace
}  // namespace caffe2rt::test::control_frame_test
