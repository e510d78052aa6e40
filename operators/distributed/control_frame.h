#pragma once
// What ranks send each other over their control connections: frames of a header and a body. All
// machines of a world have the same byte order and the same version of the library: a connection
// starts with a Hello, which states both.

#include <chrono>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace caffe2rt {

using ControlClock = std::chrono::steady_clock;

enum class FrameKind : uint32_t {
  kSignature = 1,  // this rank has started a collective
  kMessage,        // a tensor follows, over the engine
  kBlob,           // TransportBootstrap::Exchange
  kPing,           // a sign of life is wanted
  kPong,           // the sign, with what the rank is doing
  kFailed,         // this rank gives the world up: FailureFrame
  kGoodbye,        // this rank leaves
  kAck,            // this rank no longer needs the one that leaves
};

struct FrameHeader {
  uint32_t kind;
  uint32_t bytes;  // of the body
};
inline constexpr uint32_t kMostFrameBytes = 1 << 20;

enum class CollectiveKind : int32_t {
  kBarrier,
  kAllreduce,
  kBroadcast,
  kReduce,
  kAllgather,
  kReduceScatter,
  kSend,
  kReceive,
};

// What ranks must agree on before data flows.
struct Signature {
  uint64_t world = 0;     // hash of its name
  uint64_t sequence = 0;  // number of the operation in its world
  uint64_t count = 0;     // elements
  uint64_t detail = 0;    // a hash of what else must be the same
  CollectiveKind kind = CollectiveKind::kBarrier;
  int32_t type = 0;  // TensorProto.DataType
  int32_t root = 0;
  char label[68] = {};  // filled up with zeros
};

inline constexpr int kMostMessageDims = 8;
struct MessageHeader {
  uint32_t number;  // of the message from this rank to that one
  int32_t tag;
  int32_t type;
  int32_t num_dims;
  int64_t dims[kMostMessageDims];
};

// Why a world is broken.
struct GroupFailure {
  std::vector<int> lost;  // the ranks that did not answer
  std::string reason;
};

struct Hello {
  static constexpr char kMagic[9] = "c2rtcw01";
  char magic[8];
  uint64_t world;
  uint64_t from_token;  // that of the sender's key in the store
  uint64_t to_token;    // that of the receiver's key
  int32_t generation;
  int32_t size;
  int32_t rank;
  int32_t padding;
};

// The bytes of a frame.
std::string FrameOf(FrameKind kind, std::string_view body);

std::string EncodeFailure(const GroupFailure& failure);
GroupFailure DecodeFailure(std::string_view body);

template <class T>
std::string_view BytesOf(const T& object) {
  return {reinterpret_cast<const char*>(&object), sizeof(T)};
}

// Returns false if there are not as many bytes as the object has.
template <class T>
bool ParseBytes(std::string_view bytes, T* object) {
  if (bytes.size() != sizeof(T)) return false;
  std::memcpy(object, bytes.data(), sizeof(T));
  return true;
}

// "Allreduce \"w\" of world \"cw\"".
std::string OperationText(CollectiveKind kind, std::string_view label, const std::string& world);
// "Allreduce \"w\" of 10 elements of type float".
std::string SignatureText(const Signature& signature);

// THROWS EnforceNotMet, which states both sides, if a rank's signature differs from that of rank `self`. In the
// order of the ranks; `world` is the name, for the message.
void EnforceEqual(const std::vector<Signature>& signatures, int self, const std::string& world);

// FNV-1a.
uint64_t HashOf(std::string_view text);

// "rank 1" or "ranks 1, 2".
std::string RanksText(const std::vector<int>& ranks);

}  // namespace caffe2rt
