#include "operators/distributed/common_world.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <utility>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/base/logging.h"
#include "caffe2_core/base/mutex.h"
#include "caffe2_core/tensor/data_type.h"
#include "operators/distributed/collective_engine.h"
#include "operators/distributed/control_group.h"

namespace caffe2rt {
namespace {

std::string MessageOf(const std::exception& error) {
  const auto* const known = dynamic_cast<const EnforceNotMet*>(&error);
  return known != nullptr ? known->message() : error.what();
}

// What the clones of a world share.
class SharedGroup {
 public:
  SharedGroup(const WorldOptions& options, StoreBlob store)
      : options_(options), store_(std::move(store)) {
    CAFFE_ENFORCE(options.size > 0 && options.rank >= 0 && options.rank < options.size, "world \"",
                  options.name, "\" has rank ", options.rank, " and size ", options.size,
                  ", want a rank from 0 to size - 1");
    CAFFE_ENFORCE(!options.name.empty(),
                  "a world has no name, want one that is unique among the worlds of a run");
    CAFFE_ENFORCE(options.timeout.count() > 0, "world \"", options.name, "\" has timeout_ms ",
                  options.timeout.count(), ", want above 0");
    CAFFE_ENFORCE(options.generation >= 0, "world \"", options.name, "\" has generation ",
                  options.generation, ", want 0 or above");
    const CollectiveEngine* const engine = options.size > 1 || !options.engine.empty()
                                               ? &EnforceCollectiveEngine(options.engine)
                                               : nullptr;
    CAFFE_ENFORCE(engine == nullptr || engine->has_transport == nullptr ||
                      engine->has_transport(options.transport),
                  "world \"", options.name, "\" has transport \"", options.transport,
                  "\", which engine ", options.engine,
                  " does not have; caffe2 devices lists those that it has");
    names_.insert(options.name);
    tags_.insert(Tag(options.name));
    if (options.size == 1) return;
    CAFFE_ENFORCE(store_ != nullptr, "world \"", options.name, "\" of ", options.size,
                  " ranks has no store, want one by which they find each other");
    Connect(*engine);
  }

  ~SharedGroup() {
    Close();
    if (control_ != nullptr) control_->OnLoss({});  // the transport is destroyed first
  }
  SharedGroup(const SharedGroup&) = delete;
  SharedGroup& operator=(const SharedGroup&) = delete;

  const WorldOptions& options() const { return options_; }
  ControlGroup& control() { return *control_; }
  CollectiveTransport& transport() { return *transport_; }

  static uint32_t Tag(const std::string& world) {
    const uint64_t hash = HashOf(world);
    return static_cast<uint32_t>(hash ^ (hash >> 32));
  }

  // THROWS if a world of this group has the name.
  void AddName(const std::string& name) {
    CAFFE_ENFORCE(!name.empty(), "a clone of world \"", options_.name, "\" has no name");
    const MutexLock lock(mutex_);
    CAFFE_ENFORCE(!names_.contains(name) && !tags_.contains(Tag(name)), "world \"", options_.name,
                  "\" has a clone with the name \"", name, "\" already, want another name");
    names_.insert(name);
    tags_.insert(Tag(name));
  }
  void RemoveName(const std::string& name) {
    const MutexLock lock(mutex_);
    names_.erase(name);
    tags_.erase(Tag(name));
  }

  void Close() {
    if (control_ == nullptr) return;
    control_->Leave();
    EraseKeys();
  }

  uint32_t NextMessage(int rank) {
    const MutexLock lock(mutex_);
    return next_message_[rank]++;
  }

 private:
  void Connect(const CollectiveEngine& engine) {
    const GroupOptions group{options_.name,       options_.rank,    options_.size,
                             options_.generation, options_.timeout, options_.interface};
    Meeting meeting = Meet(group, *store_);
    const std::string address = meeting.address;
    control_ = std::make_unique<ControlGroup>(group, std::move(meeting));
    try {
      ConnectTransport(engine, address);
    } catch (const std::exception&) {
      Close();
      throw;
    }
    CollectiveTransport* const transport = transport_.get();
    control_->OnLoss([transport] { transport->Abort(); });
  }

  void ConnectTransport(const CollectiveEngine& engine, const std::string& address) {
    // The monitor watches the time.
    const ControlGroup::Operation operation(control_.get(), "the creation of the world",
                                            ControlGroup::kCreation, 0);
    try {
      transport_ = engine.connect({options_.rank, options_.size, options_.name, address,
                                   options_.transport, options_.timeout},
                                  *control_);
    } catch (const RanksLost&) {
      throw;
    } catch (const std::exception& error) {
      // Because a rank was lost, or for a reason of the engine.
      control_->ThrowEngineFailure(operation, MessageOf(error));
    }
  }

  // Those of this rank and of lost ones, which cannot erase theirs.
  void EraseKeys() {
    const GroupOptions group{
        options_.name, options_.rank, options_.size, options_.generation, {}, {}};
    std::vector<int> ranks = control_->lost_ranks();
    ranks.push_back(options_.rank);
    for (const int rank : ranks) {
      try {
        store_->Erase(RankKey(group, rank));
      } catch (const std::exception& error) {
        LOG(WARNING) << error.what();
      }
    }
  }

  const WorldOptions options_;
  const StoreBlob store_;
  Mutex mutex_;
  std::set<std::string> names_ ABSL_GUARDED_BY(mutex_);
  std::set<uint32_t> tags_ ABSL_GUARDED_BY(mutex_);
  std::map<int, uint32_t> next_message_ ABSL_GUARDED_BY(mutex_);  // by destination
  std::unique_ptr<ControlGroup> control_;
  std::unique_ptr<CollectiveTransport> transport_;
};

class World final : public CommonWorld {
 public:
  // The group has the name already.
  World(std::shared_ptr<SharedGroup> group, std::string name)
      : group_(std::move(group)),
        name_(std::move(name)),
        hash_(HashOf(name_)),
        tag_(SharedGroup::Tag(name_)) {}
  ~World() override { group_->RemoveName(name_); }

  const std::string& name() const override { return name_; }
  const std::string& engine() const override { return group_->options().engine; }
  int rank() const override { return group_->options().rank; }
  int size() const override { return group_->options().size; }
  int generation() const override { return group_->options().generation; }
  std::vector<int> lost_ranks() const override {
    return size() > 1 ? group_->control().lost_ranks() : std::vector<int>();
  }

  void Barrier(const CollectiveCall& call) override {
    RunCollective(call, {.kind = CollectiveKind::kBarrier}, TypeMeta(), [] {});
  }

  void Allreduce(const CollectiveCall& call, void* data, size_t count, TypeMeta type) override {
    const ElementSum& sum = ElementSumOf(type);
    RunCollective(call, {.count = count, .kind = CollectiveKind::kAllreduce}, type, [&] {
      if (count > 0) group_->transport().Allreduce(data, count, sum, tag_);
    });
  }

  void Broadcast(const CollectiveCall& call, void* data, size_t count, TypeMeta type,
                 int root) override {
    CheckRank("root", root);
    const size_t bytes = BytesFor(count, type);
    RunCollective(call, {.count = count, .kind = CollectiveKind::kBroadcast, .root = root}, type,
                  [&] {
                    if (count > 0) group_->transport().Broadcast(data, bytes, root, tag_);
                  });
  }

  void Reduce(const CollectiveCall& call, void* data, size_t count, TypeMeta type,
              int root) override {
    CheckRank("root", root);
    const ElementSum& sum = ElementSumOf(type);
    RunCollective(call, {.count = count, .kind = CollectiveKind::kReduce, .root = root}, type, [&] {
      if (count > 0) group_->transport().Reduce(data, count, sum, root, tag_);
    });
  }

  void Allgather(const CollectiveCall& call, const void* in, void* out, size_t count,
                 TypeMeta type) override {
    const size_t bytes = BytesFor(count, type);
    RunCollective(call, {.count = count, .kind = CollectiveKind::kAllgather}, type, [&] {
      if (count > 0) group_->transport().Allgather(in, out, bytes, tag_);
    });
    if (size() == 1 && count > 0) std::memcpy(out, in, bytes);
  }

  void ReduceScatter(const CollectiveCall& call, void* data, std::span<const int> counts,
                     TypeMeta type) override {
    const ElementSum& sum = ElementSumOf(type);
    CAFFE_ENFORCE_EQ(counts.size(), static_cast<size_t>(size()),
                     "numbers of elements for the ranks of world \"", name_,
                     "\", want one for each");
    size_t total = 0, begin = 0;
    for (int to = 0; to < size(); ++to) {
      const int count = counts[static_cast<size_t>(to)];
      CAFFE_ENFORCE(count >= 0, "rank ", to, " is to get ", count, " elements, want 0 or more");
      if (to == rank()) begin = total;
      total += static_cast<size_t>(count);
    }
    const uint64_t detail =
        HashOf({reinterpret_cast<const char*>(counts.data()), counts.size_bytes()});
    const Signature signature{
        .count = total, .detail = detail, .kind = CollectiveKind::kReduceScatter};
    RunCollective(call, signature, type, [&] {
      if (total > 0) group_->transport().Allreduce(data, total, sum, tag_);
    });
    char* const bytes = static_cast<char*>(data);
    const size_t own = static_cast<size_t>(counts[static_cast<size_t>(rank())]) * sum.bytes;
    if (own > 0) std::memmove(bytes, bytes + begin * sum.bytes, own);
  }

  void Send(const CollectiveCall& call, const void* data, std::span<const int64_t> dims,
            TypeMeta type, int destination, int tag) override {
    CheckPeer("destination", destination);
    CAFFE_ENFORCE(tag >= 0, "tag is ", tag, ", want 0 or above");
    CAFFE_ENFORCE(dims.size() <= static_cast<size_t>(kMostMessageDims), "the tensor has ",
                  dims.size(), " dimensions, want at most ", kMostMessageDims);
    MessageHeader header{};
    header.tag = tag;
    header.type = TypeNumber(type);
    header.num_dims = static_cast<int32_t>(dims.size());
    std::copy(dims.begin(), dims.end(), header.dims);
    const size_t bytes = MessageBytes(header, type);
    ControlGroup::Operation operation(&group_->control(), Text(CollectiveKind::kSend, call),
                                      destination, hash_);
    header.number = group_->NextMessage(destination);
    group_->control().Announce(operation, destination, header);
    MoveData(operation, [&] {
      if (bytes > 0) group_->transport().Send(data, bytes, destination, header.number);
    });
  }

  ReceivedTensor Receive(const CollectiveCall& call, int source, int tag,
                         const std::function<void*(const ReceivedTensor&)>& allocate) override {
    if (source != ControlGroup::kAnyRank) CheckPeer("source", source);
    CAFFE_ENFORCE(size() > 1, "world \"", name_, "\" has no other rank from which to receive");
    ControlGroup::Operation operation(&group_->control(), Text(CollectiveKind::kReceive, call),
                                      source, hash_, tag);
    MessageHeader header{};
    ReceivedTensor received{};
    received.source = group_->control().WaitForMessage(&operation, source, tag, &header);
    received.tag = header.tag;
    received.type = DataTypeToTypeMeta(static_cast<int64_t>(header.type));
    CAFFE_ENFORCE(header.num_dims >= 0 && header.num_dims <= kMostMessageDims, "rank ",
                  received.source, " sent a tensor with ", header.num_dims,
                  " dimensions, want 0 to ", kMostMessageDims);
    received.dims.assign(header.dims, header.dims + header.num_dims);
    const size_t bytes = MessageBytes(header, received.type);
    void* const data = allocate(received);
    MoveData(operation, [&] {
      if (bytes > 0) group_->transport().Receive(data, bytes, received.source, header.number);
    });
    return received;
  }

  CommonWorldBlob Clone(const std::string& name) override {
    group_->AddName(name);
    return std::make_shared<World>(group_, name);
  }

  void Close() override { group_->Close(); }

 private:
  static int32_t TypeNumber(TypeMeta type) {
    const TensorProto_DataType number = TypeMetaToDataType(type);
    CAFFE_ENFORCE(number != TensorProto_DataType_UNDEFINED && number != TensorProto_DataType_STRING,
                  "elements of type ", type.name(), " cannot be sent to other ranks, want numbers");
    return number;
  }

  static size_t BytesFor(size_t count, TypeMeta type) {
    TypeNumber(type);
    return CheckedMultiply(count, type.itemsize());
  }

  static size_t MessageBytes(const MessageHeader& header, TypeMeta type) {
    size_t count = 1;
    for (int i = 0; i < header.num_dims; ++i) {
      CAFFE_ENFORCE(header.dims[i] >= 0, "dimension ", i, " of a tensor to send is ",
                    header.dims[i]);
      count = CheckedMultiply(count, static_cast<size_t>(header.dims[i]));
    }
    return CheckedMultiply(count, type.itemsize());
  }

  void CheckRank(const char* what, int rank) const {
    CAFFE_ENFORCE(rank >= 0 && rank < size(), what, " is ", rank, ", want a rank of world \"",
                  name_, "\", 0 to ", size() - 1);
  }
  void CheckPeer(const char* what, int peer) const {
    CheckRank(what, peer);
    CAFFE_ENFORCE(peer != rank(), what, " is ", peer, ", which is this rank of world \"", name_,
                  "\", want another one");
  }

  std::string Text(CollectiveKind kind, const CollectiveCall& call) const {
    return OperationText(kind, call.label, name_);
  }

  template <class Move>
  void MoveData(const ControlGroup::Operation& operation, Move move) {
    std::string why;
    try {
      return move();
    } catch (const OutOfMemory&) {
      throw;
    } catch (const std::exception& error) {
      why = MessageOf(error);
    }
    group_->control().ThrowEngineFailure(operation, why);
  }

  template <class Move>
  void RunCollective(const CollectiveCall& call, Signature signature, TypeMeta type, Move move) {
    if (size() == 1) return;
    const MutexLock turn(turn_);
    signature.world = hash_;
    if (call.detail != 0) signature.detail = call.detail;
    signature.type = signature.kind == CollectiveKind::kBarrier ? 0 : TypeNumber(type);
    const size_t length = std::min(call.label.size(), sizeof(signature.label) - 1);
    std::memcpy(signature.label, call.label.data(), length);
    ControlGroup::Operation operation(&group_->control(), Text(signature.kind, call),
                                      ControlGroup::kAllRanks, hash_);
    signature.sequence = sequence_++;
    group_->control().Agree(&operation, signature, name_);
    MoveData(operation, move);
  }

  const std::shared_ptr<SharedGroup> group_;
  const std::string name_;
  const uint64_t hash_;
  const uint32_t tag_;
  Mutex turn_;  // collectives run one at a time
  uint64_t sequence_ ABSL_GUARDED_BY(turn_) = 0;
};

}  // namespace

RanksLost::RanksLost(std::string world, std::vector<int> ranks, const std::string& message)
    : EnforceNotMet("operators/distributed", 0, "", message),
      world_(std::move(world)),
      ranks_(std::move(ranks)) {}

std::string CommonWorld::AnnounceLoss(const WorldOptions& options, Store* store,
                                      const std::string& reason) {
  const GroupOptions group{options.name,       options.rank,    options.size,
                           options.generation, options.timeout, options.interface};
  return WriteLoss(group, *store, reason) ? RankKey(group, options.rank) : std::string();
}

CommonWorldBlob CommonWorld::Create(const WorldOptions& options, StoreBlob store) {
  return std::make_shared<World>(std::make_shared<SharedGroup>(options, std::move(store)),
                                 options.name);
}

}  // namespace caffe2rt
