#include "operators/distributed/control_group.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/runtime/waiting.h"
#include "operators/distributed/common_world.h"

namespace caffe2rt {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kMonitorPeriod{50};
// Ranks that are lost together are named together: what the monitor could read within kSettle of
// the first loss. Threads wait for a monitor that is late, up to kLatestSettle.
constexpr milliseconds kSettle{50}, kLatestSettle{5000};
// How long to wait for the monitor to find out why the engine failed.
constexpr milliseconds kEngineGrace{1500};
constexpr milliseconds kLeavePatience{1000};
constexpr milliseconds kLeavePatienceIfFailed{200};

bool HasTag(const MessageHeader& message, int tag) { return tag < 0 || message.tag == tag; }

}  // namespace

ControlGroup::Operation::Operation(ControlGroup* group, std::string text, int waits_for,
                                   uint64_t world, std::optional<int> tag)
    : group_(*group), text_(std::move(text)), waits_for_(waits_for), world_(world), tag_(tag) {
  group_.ThrowIfFailed(text_);
  const MutexLock lock(group_.mutex_);
  group_.operations_.push_back(this);
}

ControlGroup::Operation::~Operation() {
  {
    const MutexLock lock(group_.mutex_);
    std::erase(group_.operations_, this);
    group_.AckGoodbyes();
    if (group_.queued_.empty()) return;
  }
  group_.SendQueued();
}

ControlGroup::ControlGroup(const GroupOptions& options, Meeting meeting)
    : options_(options), self_(options.rank) {
  for (int rank = 0; rank < options_.size; ++rank) {
    peers_.push_back(rank == self_ ? nullptr : std::make_unique<Peer>());
    if (rank != self_)
      peers_.back()->fd = std::move(meeting.connections[static_cast<size_t>(rank)]);
  }
  wake_ = UniqueFd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  monitor_ = std::thread([this] { Monitor(); });
}

ControlGroup::~ControlGroup() {
  Leave();
  stop_ = true;
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(wake_.get(), &one, sizeof(one));
  monitor_.join();
}

std::vector<int> ControlGroup::lost_ranks() const {
  const MutexLock lock(mutex_);
  return failure_ ? failure_->lost : std::vector<int>();
}

// --- Frames ---

void ControlGroup::SendFrame(int rank, FrameKind kind, std::string_view body) {
  Peer& peer = *peers_[static_cast<size_t>(rank)];
  const MutexLock lock(peer.sending);
  // A connection that fails is noticed by the monitor, which reads it.
  SendAll(peer.fd.get(), FrameOf(kind, body));
}

void ControlGroup::SendToAll(FrameKind kind, std::string_view body) {
  for (int rank = 0; rank < options_.size; ++rank) {
    if (rank != self_) SendFrame(rank, kind, body);
  }
}

void ControlGroup::Queue(int rank, FrameKind kind, std::string body) {
  queued_.push_back({rank, kind, std::move(body)});
}

void ControlGroup::SendQueued() {
  std::vector<QueuedFrame> frames;
  bool abort = false;
  {
    const MutexLock lock(mutex_);
    frames.swap(queued_);
    abort = failure_.has_value() && !aborted_;
    aborted_ = aborted_ || abort;
  }
  for (const QueuedFrame& frame : frames) SendFrame(frame.rank, frame.kind, frame.body);
  if (!abort) return;
  const MutexLock lock(abort_mutex_);
  if (abort_) abort_();
}

void ControlGroup::OnLoss(std::function<void()> abort) {
  const MutexLock lock(abort_mutex_);
  abort_ = std::move(abort);
  bool late;
  {
    const MutexLock state(mutex_);
    late = aborted_;
  }
  if (late && abort_) abort_();
}

// --- The monitor ---

void ControlGroup::Monitor() {
  std::vector<pollfd> waited;
  std::vector<int> ranks;
  while (!stop_) {
    waited.assign(1, {wake_.get(), POLLIN, 0});
    ranks.assign(1, self_);
    milliseconds period = kMonitorPeriod;
    {
      const MutexLock lock(mutex_);
      if (failure_ && !settled_) period = kSettle / 10;
      for (int rank = 0; rank < options_.size; ++rank) {
        if (rank == self_ || peers_[static_cast<size_t>(rank)]->closed) continue;
        waited.push_back({peers_[static_cast<size_t>(rank)]->fd.get(), POLLIN, 0});
        ranks.push_back(rank);
      }
    }
    poll(waited.data(), waited.size(), static_cast<int>(period.count()));
    const auto polled = ControlClock::now();
    for (size_t i = 1; i < waited.size(); ++i) {
      if (waited[i].revents != 0) ReadPeer(ranks[i]);
    }
    {
      const MutexLock lock(mutex_);
      CheckTimes();
      if (failure_ && !settled_ && polled >= failed_at_ + kSettle) {
        settled_ = true;
        changed_.NotifyAll();
      }
    }
    SendQueued();
  }
}

void ControlGroup::ReadPeer(int rank) {
  char part[16384];
  Peer& peer = *peers_[static_cast<size_t>(rank)];
  const ssize_t n = recv(peer.fd.get(), part, sizeof(part), MSG_DONTWAIT);
  const MutexLock lock(mutex_);
  if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return;
  if (n <= 0) return HandleClosed(rank);
  peer.heard = ControlClock::now();
  peer.received.append(part, static_cast<size_t>(n));
  size_t begin = 0;
  while (peer.received.size() - begin >= sizeof(FrameHeader)) {
    FrameHeader header;
    std::memcpy(&header, peer.received.data() + begin, sizeof(header));
    if (header.bytes > kMostFrameBytes) return HandleClosed(rank);
    const size_t end = begin + sizeof(header) + header.bytes;
    if (peer.received.size() < end) break;
    HandleFrame(rank, static_cast<FrameKind>(header.kind),
                std::string_view(peer.received).substr(begin + sizeof(header), header.bytes));
    begin = end;
  }
  peer.received.erase(0, begin);
}

void ControlGroup::HandleFrame(int rank, FrameKind kind, std::string_view body) {
  Peer& peer = *peers_[static_cast<size_t>(rank)];
  switch (kind) {
    case FrameKind::kSignature:
      if (Signature signature; ParseBytes(body, &signature)) {
        signature.label[sizeof(signature.label) - 1] = '\0';
        peer.signatures[signature.world].push_back(signature);
      }
      break;
    case FrameKind::kMessage:
      if (MessageHeader header; ParseBytes(body, &header)) peer.messages.push_back(header);
      break;
    case FrameKind::kBlob:
      peer.blobs.emplace_back(body);
      break;
    case FrameKind::kPing:
      Queue(rank, FrameKind::kPong, State());
      break;
    case FrameKind::kPong:
      peer.state = body;
      break;
    case FrameKind::kFailed: {
      peer.gave_up = true;
      GroupFailure failure = DecodeFailure(body);
      std::erase_if(failure.lost, [this](int lost) { return lost < 0 || lost >= options_.size; });
      Fail(std::move(failure.lost), failure.reason);
      break;
    }
    case FrameKind::kGoodbye:
      peer.left = true;
      peer.wants_ack = true;
      AckGoodbyes();
      break;
    case FrameKind::kAck:
      peer.acked = true;
      break;
  }
  changed_.NotifyAll();
}

void ControlGroup::HandleClosed(int rank) {
  Peer& peer = *peers_[static_cast<size_t>(rank)];
  peer.closed = true;
  changed_.NotifyAll();
  if (peer.left || peer.gave_up || leaving_) return;
  Fail({rank}, "its connection closed, so its process ended");
}

std::string ControlGroup::State() const {
  return operations_.empty() ? std::string() : operations_.front()->text_;
}

void ControlGroup::AckGoodbyes() {
  for (const Operation* const operation : operations_) {
    if (operation->moves_data_ && !failure_) return;
  }
  for (int rank = 0; rank < options_.size; ++rank) {
    if (rank == self_ || !peers_[static_cast<size_t>(rank)]->wants_ack) continue;
    peers_[static_cast<size_t>(rank)]->wants_ack = false;
    Queue(rank, FrameKind::kAck, "");
  }
}

void ControlGroup::CheckTimes() {
  if (failure_) return;
  for (size_t i = 0; i < operations_.size() && !failure_; ++i) CheckOperation(operations_[i]);
}

// The ranks that an operation still waits for.
std::vector<int> ControlGroup::MissingRanks(const Operation& operation) const {
  std::vector<int> missing;
  for (int rank = 0; rank < options_.size; ++rank) {
    if (rank == self_) continue;
    const Peer& peer = *peers_[static_cast<size_t>(rank)];
    const bool waits = operation.waits_for_ < 0 || operation.waits_for_ == rank;
    const auto signatures = peer.signatures.find(operation.world_);
    const bool has_come = operation.waits_for_ == kAllRanks &&
                          signatures != peer.signatures.end() && !signatures->second.empty();
    if (waits && !has_come) missing.push_back(rank);
  }
  return missing;
}

void ControlGroup::CheckOperation(Operation* operation) {
  const auto now = ControlClock::now();
  const bool needs_missing = operation->waits_for_ >= 0 || operation->waits_for_ == kAllRanks;
  if (needs_missing && !operation->moves_data_) {
    for (const int rank : MissingRanks(*operation)) {
      const Peer& peer = *peers_[static_cast<size_t>(rank)];
      // What it sent before may be there.
      const bool has_sent = operation->tag_.has_value() &&
                            std::any_of(peer.messages.begin(), peer.messages.end(),
                                        [tag = *operation->tag_](const MessageHeader& one) {
                                          return HasTag(one, tag);
                                        });
      if (peer.left && !has_sent) return Fail({rank}, "it has left the world");
    }
  }
  if (now < operation->start_ + options_.timeout / 2) return;
  if (!operation->asked_) {
    operation->asked_ = now;
    for (int rank = 0; rank < options_.size; ++rank) {
      if (rank != self_) Queue(rank, FrameKind::kPing, "");
    }
    return;
  }
  // A process that was stopped itself asks late, and must wait for the answers.
  if (now < operation->start_ + options_.timeout || now < *operation->asked_ + options_.timeout / 2)
    return;
  const std::string patience = MakeString(options_.timeout.count(), " ms (timeout_ms)");
  std::vector<int> silent;
  for (int rank = 0; rank < options_.size; ++rank) {
    if (rank != self_ && peers_[static_cast<size_t>(rank)]->heard < *operation->asked_)
      silent.push_back(rank);
  }
  if (!silent.empty()) {
    return Fail(std::move(silent),
                MakeString("no sign of life within ", patience,
                           ": the process is stopped, or its machine cannot be reached"));
  }
  if (operation->moves_data_ || operation->waits_for_ == kCreation) {
    return Fail({}, MakeString("all ranks answer, but ",
                               operation->moves_data_ ? "the data did not arrive"
                                                      : "the engine did not connect them",
                               " within ", patience));
  }
  FailMissing(*operation, patience);
}

void ControlGroup::FailMissing(const Operation& operation, const std::string& patience) {
  std::vector<int> idle;
  std::string states;
  for (const int rank : MissingRanks(operation)) {
    const std::string& state = peers_[static_cast<size_t>(rank)]->state;
    if (state.empty()) idle.push_back(rank);
    states += MakeString(", rank ", rank,
                         state.empty() ? " is in no operation of the world" : " is in ", state);
  }
  if (idle.empty()) {
    return Fail({}, MakeString("the ranks wait for each other for ", patience, ": rank ", self_,
                               " is in ", operation.text_, states,
                               "; all must start their operations in the same order"));
  }
  Fail(std::move(idle),
       MakeString("it runs, but did not start ", operation.text_, " within ", patience, states));
}

void ControlGroup::Fail(std::vector<int> lost, const std::string& reason) {
  if (failure_) {
    if (settled_) return;
    for (const int rank : lost) {
      if (std::find(failure_->lost.begin(), failure_->lost.end(), rank) == failure_->lost.end()) {
        failure_->lost.push_back(rank);
      }
    }
    std::sort(failure_->lost.begin(), failure_->lost.end());
    return;
  }
  failure_ = GroupFailure{std::move(lost), reason};
  failed_at_ = ControlClock::now();
  const std::string body = EncodeFailure(*failure_);
  for (int rank = 0; rank < options_.size; ++rank) {
    if (rank != self_) Queue(rank, FrameKind::kFailed, body);
  }
  AckGoodbyes();
  changed_.NotifyAll();
}

// --- Waiting ---

void ControlGroup::ThrowIfFailed(const std::string& text) {
  {
    const MutexLock lock(mutex_);
    if (!failure_ && !leaving_) return;
    CAFFE_ENFORCE(failure_ || !leaving_, "world \"", options_.name, "\" (rank ", self_, " of ",
                  options_.size, "): ", text, " on a closed world");
  }
  ThrowFailure(text);
}

void ControlGroup::ThrowFailure(const std::string& text) {
  GroupFailure failure;
  {
    const MutexLock lock(mutex_);
    const auto latest = failed_at_ + kLatestSettle;
    while (!settled_ && ControlClock::now() < latest) changed_.WaitUntil(mutex_, latest);
    failure = *failure_;
  }
  const std::string lost = failure.lost.empty()
                               ? std::string()
                               : MakeString(RanksText(failure.lost), " did not answer: ");
  throw RanksLost(options_.name, failure.lost,
                  MakeString("world \"", options_.name, "\" (rank ", self_, " of ", options_.size,
                             "), ", text, ": ", lost, failure.reason));
}

void ControlGroup::WaitUntil(const Operation& operation, const std::function<bool()>& ready) {
  const WaitingThread waiting;
  while (true) {
    {
      const MutexLock lock(mutex_);
      const auto turn = ControlClock::now() + kLongestWait;
      while (true) {
        if (ready()) return;
        if (failure_ || !changed_.WaitUntil(mutex_, turn)) break;
      }
      if (ready()) return;
    }
    ThrowIfFailed(operation.text_);
    try {
      ThrowIfStopped();
    } catch (...) {
      {
        const MutexLock lock(mutex_);
        Fail({self_}, MakeString("rank ", self_, " gave up, because its run was stopped"));
      }
      SendQueued();
      throw;
    }
  }
}

void ControlGroup::Agree(Operation* operation, const Signature& signature,
                         const std::string& world) {
  SendToAll(FrameKind::kSignature, BytesOf(signature));
  std::vector<Signature> all;
  WaitUntil(*operation, [&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    if (!MissingRanks(*operation).empty()) return false;
    for (int rank = 0; rank < options_.size; ++rank) {
      if (rank == self_) {
        all.push_back(signature);
        continue;
      }
      std::deque<Signature>& queue = peers_[static_cast<size_t>(rank)]->signatures[signature.world];
      all.push_back(queue.front());
      queue.pop_front();
    }
    operation->moves_data_ = true;
    return true;
  });
  EnforceEqual(all, self_, world);
}

void ControlGroup::ThrowEngineFailure(const Operation& operation, const std::string& why) {
  {
    const MutexLock lock(mutex_);
    const auto deadline = ControlClock::now() + kEngineGrace;
    while (!failure_ && ControlClock::now() < deadline) changed_.WaitUntil(mutex_, deadline);
    Fail({}, MakeString("the engine failed on rank ", self_,
                        ", although all ranks are connected: ", why));
  }
  SendQueued();
  ThrowFailure(operation.text_);
}

void ControlGroup::Announce(const Operation& operation, int rank, const MessageHeader& header) {
  ThrowIfFailed(operation.text_);
  SendFrame(rank, FrameKind::kMessage, BytesOf(header));
}

int ControlGroup::WaitForMessage(Operation* operation, int source, int tag, MessageHeader* header) {
  int found = kAnyRank;
  WaitUntil(*operation, [&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    for (int rank = 0; rank < options_.size; ++rank) {
      if (rank == self_ || (source != kAnyRank && rank != source)) continue;
      std::deque<MessageHeader>& messages = peers_[static_cast<size_t>(rank)]->messages;
      const auto message =
          std::find_if(messages.begin(), messages.end(),
                       [tag](const MessageHeader& one) { return HasTag(one, tag); });
      if (message == messages.end()) continue;
      *header = *message;
      messages.erase(message);
      found = rank;
      operation->moves_data_ = true;
      return true;
    }
    return false;
  });
  return found;
}

std::vector<std::string> ControlGroup::Exchange(const std::vector<std::string>& messages) {
  const Operation operation(this, "the creation of the world", kCreation, 0);
  for (int rank = 0; rank < options_.size; ++rank) {
    if (rank != self_) SendFrame(rank, FrameKind::kBlob, messages[static_cast<size_t>(rank)]);
  }
  std::vector<std::string> received(static_cast<size_t>(options_.size));
  WaitUntil(operation, [&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    for (int rank = 0; rank < options_.size; ++rank) {
      if (rank != self_ && peers_[static_cast<size_t>(rank)]->blobs.empty()) return false;
    }
    for (int rank = 0; rank < options_.size; ++rank) {
      if (rank == self_) continue;
      std::deque<std::string>& blobs = peers_[static_cast<size_t>(rank)]->blobs;
      received[static_cast<size_t>(rank)] = std::move(blobs.front());
      blobs.pop_front();
    }
    return true;
  });
  return received;
}

void ControlGroup::Leave() {
  {
    const MutexLock lock(mutex_);
    if (leaving_) return;
    leaving_ = true;
  }
  SendToAll(FrameKind::kGoodbye, "");
  const MutexLock lock(mutex_);
  const auto deadline = ControlClock::now() + (failure_ ? kLeavePatienceIfFailed : kLeavePatience);
  while (ControlClock::now() < deadline) {
    bool needed = false;
    for (const std::unique_ptr<Peer>& peer : peers_) {
      needed = needed || (peer != nullptr && !peer->acked && !peer->closed);
    }
    if (!needed) return;
    changed_.WaitUntil(mutex_, deadline);
  }
}

}  // namespace caffe2rt
