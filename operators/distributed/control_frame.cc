#include "operators/distributed/control_frame.h"

#include <absl/strings/str_join.h>

#include <cstring>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/tensor/data_type.h"

namespace caffe2rt {
namespace {

const char* KindName(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::kBarrier:
      return "Barrier";
    case CollectiveKind::kAllreduce:
      return "Allreduce";
    case CollectiveKind::kBroadcast:
      return "Broadcast";
    case CollectiveKind::kReduce:
      return "Reduce";
    case CollectiveKind::kAllgather:
      return "Allgather";
    case CollectiveKind::kReduceScatter:
      return "ReduceScatter";
    case CollectiveKind::kSend:
      return "SendTensor";
    case CollectiveKind::kReceive:
      return "ReceiveTensor";
  }
  return "an unknown operation";
}

bool HasRoot(CollectiveKind kind) {
  return kind == CollectiveKind::kBroadcast || kind == CollectiveKind::kReduce;
}

}  // namespace

std::string FrameOf(FrameKind kind, std::string_view body) {
  const FrameHeader header{static_cast<uint32_t>(kind), static_cast<uint32_t>(body.size())};
  std::string bytes(BytesOf(header));
  bytes += body;
  return bytes;
}

std::string EncodeFailure(const GroupFailure& failure) {
  std::string body;
  body += BytesOf(static_cast<int32_t>(failure.lost.size()));
  for (const int rank : failure.lost) body += BytesOf(static_cast<int32_t>(rank));
  body += failure.reason;
  return body;
}

GroupFailure DecodeFailure(std::string_view body) {
  GroupFailure failure;
  const auto next = [&body] {
    int32_t value = 0;
    if (body.size() < sizeof(value)) return -1;
    std::memcpy(&value, body.data(), sizeof(value));
    body.remove_prefix(sizeof(value));
    return static_cast<int>(value);
  };
  const int count = next();
  for (int i = 0; i < count && !body.empty(); ++i) failure.lost.push_back(next());
  failure.reason = body;
  return failure;
}

std::string OperationText(CollectiveKind kind, std::string_view label, const std::string& world) {
  return MakeString(KindName(kind), " \"", label, "\" of world \"", world, "\"");
}

std::string SignatureText(const Signature& signature) {
  std::string text =
      MakeString(KindName(signature.kind), " \"", std::string(signature.label), "\"");
  if (signature.kind == CollectiveKind::kBarrier) return text;
  text += MakeString(" of ", signature.count, " elements of type ",
                     DataTypeName(static_cast<TensorProto_DataType>(signature.type)));
  if (HasRoot(signature.kind)) text += MakeString(" with root ", signature.root);
  return text;
}

void EnforceEqual(const std::vector<Signature>& signatures, int self, const std::string& world) {
  const Signature& own = signatures[static_cast<size_t>(self)];
  for (size_t rank = 0; rank < signatures.size(); ++rank) {
    const Signature& other = signatures[rank];
    if (std::memcmp(&own, &other, sizeof(own)) == 0) continue;
    const bool same_text = own.kind == other.kind && own.count == other.count;
    CAFFE_THROW(
        "world \"", world, "\": the ranks started different operations as number ", own.sequence,
        ": rank ", self, " started ", SignatureText(own), ", rank ", rank, " started ",
        SignatureText(other),
        own.detail != other.detail && same_text ? ", with other numbers of elements for the ranks"
                                                : "",
        own.sequence != other.sequence ? MakeString(" as number ", other.sequence) : std::string());
  }
}

uint64_t HashOf(std::string_view text) {
  uint64_t hash = 14695981039346656037u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return hash;
}

std::string RanksText(const std::vector<int>& ranks) {
  return (ranks.size() == 1 ? "rank " : "ranks ") + absl::StrJoin(ranks, ", ");
}

}  // namespace caffe2rt
