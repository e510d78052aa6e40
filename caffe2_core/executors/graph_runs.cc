#include "caffe2_core/executors/graph_runs.h"

#include <algorithm>
#include <set>
#include <thread>
#include <utility>

#include "caffe2_core/base/logging.h"
#include "caffe2_core/device/context.h"
#include "caffe2_core/device/device_graph.h"
#include "caffe2_core/graph/device_inference.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2rt/caffe2.pb.h"

namespace caffe2rt {
namespace {

constexpr int kPlainRuns = 2;
// Captures of a piece that are kept, each for other addresses of its blobs.
constexpr size_t kMostCaptures = 4;

// A tensor as it was after the last plain run.
struct Seen {
  explicit Seen(const Blob* blob) : blob(blob) {}

  const Blob* blob;
  const void* data = nullptr;
  TypeMeta meta;
  DeviceType device = CPU;
  bool read_only = false;  // writing to a read-only tensor allocates other memory
  std::vector<int64_t> dims;

  const Tensor* tensor() const {
    return blob->IsType<Tensor>() ? static_cast<const Tensor*>(blob->GetRaw()) : nullptr;
  }
  bool IsAsBefore() const { return IsAlike() && address() == data; }
  // The same, but for the address.
  bool IsAlike() const {
    const Tensor* const now = tensor();
    return now != nullptr && now->storage() != nullptr && now->meta() == meta &&
           now->GetDeviceType() == device && now->storage()->read_only() == read_only &&
           now->sizes() == IntArrayRef(dims);
  }
  // REQUIRES: IsAlike().
  const void* address() const { return tensor()->storage()->data(); }
  // Stores the current state. Returns false if the blob holds no tensor with memory.
  bool Look() {
    const Tensor* const now = tensor();
    if (now == nullptr || now->storage() == nullptr) return false;
    data = now->storage()->data();
    meta = now->meta();
    device = now->GetDeviceType();
    read_only = now->storage()->read_only();
    dims.assign(now->sizes().begin(), now->sizes().end());
    return true;
  }
};

bool DrawsRandomNumbers(const OperatorBase& op) {
  const OpSchema* const schema = OpSchemaRegistry::Schema(op.type());
  return schema != nullptr && schema->has_effect(Effect::kRandom, op.debug_def());
}

bool IsOn(const Blob& blob, DeviceType device) { return blob.IsTensor(device); }

// Whether all inputs of the operator, and at least one of its outputs, are on its device. A further
// output on the CPU is allowed, because it may hold shapes, as that of Concat does.
bool StaysOnItsDevice(OperatorBase* op) {
  const auto device = static_cast<DeviceType>(op->device_option().device_type());
  const auto on_device = [&](const Blob* blob) { return IsOn(*blob, device); };
  return std::all_of(op->Inputs().begin(), op->Inputs().end(), on_device) &&
         (op->Outputs().empty() ||
          std::any_of(op->Outputs().begin(), op->Outputs().end(), on_device));
}

// The same according to the device inference of the operator, before any blob has content.
bool IsMeantToStayOnItsDevice(const OperatorDef& def) {
  const DevicePlace own = PlaceOf(def.device_option());
  const auto on_device = [&](const DeviceOption& device) { return PlaceOf(device) == own; };
  const auto [inputs, outputs] = InferOpInputOutputDevice(def);
  return std::all_of(inputs.begin(), inputs.end(), on_device) &&
         (outputs.empty() || std::any_of(outputs.begin(), outputs.end(), on_device));
}

bool IsSameDeviceOrCurrent(const OperatorBase& a, const OperatorBase& b) {
  return a.device_option().device_type() == b.device_option().device_type() &&
         a.device_option().has_device_id() == b.device_option().has_device_id() &&
         a.device_option().device_id() == b.device_option().device_id();
}

}  // namespace

// The operators at the places [first, end) of the order. Invariant: `captures` are captures of
// these operators on tensors that differ from those of `seen` at most in their addresses.
struct GraphRuns::Piece {
  size_t first = 0;
  size_t end = 0;
  std::vector<Seen> seen;  // one entry for each blob
  int runs_alike = 0;      // consecutive plain runs with the same memory and shapes
  struct Capture {
    std::vector<const void*> addresses;  // of the tensors, in the order of `seen`
    std::unique_ptr<DeviceGraph> graph;
  };
  std::vector<Capture> captures;  // the one used last comes first
  std::vector<const Blob*> written;
  std::thread::id thread;  // the thread of the last plain run, whose scratch memory is allocated

  bool IsAsBefore() const {
    return std::all_of(seen.begin(), seen.end(), [](const Seen& s) { return s.IsAsBefore(); });
  }
  bool IsAlike() const {
    return std::all_of(seen.begin(), seen.end(), [](const Seen& s) { return s.IsAlike(); });
  }
  bool IsStale() const { return !captures.empty() && captures.front().graph->IsStale(); }
  // Whether the capture is of the tensors as they are. REQUIRES: IsAlike().
  bool IsOf(const Capture& capture) const {
    for (size_t i = 0; i < seen.size(); ++i) {
      if (seen[i].address() != capture.addresses[i]) return false;
    }
    return true;
  }
  // Moves the capture of the tensors to the front. Returns false if there is none.
  bool Find() {
    const auto found = std::find_if(captures.begin(), captures.end(),
                                    [this](const Capture& capture) { return IsOf(capture); });
    if (found == captures.end()) return false;
    std::rotate(captures.begin(), found, found + 1);
    return true;
  }
  void Forget() {
    runs_alike = 0;
    captures.clear();
  }
  // Call it after a plain run: compares the blobs with the previous run and counts equal runs.
  void Look() {
    const bool alike = runs_alike > 0 && IsAsBefore();
    bool whole = true;
    if (!alike) {
      for (Seen& s : seen) whole = s.Look() && whole;
    }
    runs_alike = alike ? runs_alike + 1 : (whole ? 1 : 0);
  }
};

GraphRuns::GraphRuns(std::string net, const std::vector<OperatorBase*>& operators,
                     const ExecutionOrder& order, const DeviceWaits& waits)
    : net_(std::move(net)), order_(order) {
  for (const size_t position : order_.positions) operators_.push_back(operators[position]);
  std::set<int> without;  // device types that do not support graphs
  size_t first = 0;
  const auto close = [&](size_t end) {
    AddPiece(first, end);
    first = end;
  };
  for (size_t i = 0; i < operators_.size(); ++i) {
    if (i > first && (waits.AreBefore(i) || order_.stream(i - 1) != order_.stream(i) ||
                      !IsSameDeviceOrCurrent(*operators_[i - 1], *operators_[i]))) {
      close(i);
    }
    const DeviceOption& option = operators_[i]->device_option();
    bool may = MayBeRecorded(*operators_[i], i) && !without.contains(option.device_type());
    if (may && i == first &&
        GetStaticContext(static_cast<DeviceType>(option.device_type()))->CreateGraph(option) ==
            nullptr) {
      without.insert(option.device_type());
      LOG(WARNING) << "net \"" << net_ << "\": argument cuda_graph has no effect on "
                   << DeviceTypeName(option.device_type()) << ", which does not support graphs";
      may = false;
    }
    if (!may) {
      close(i);
      first = i + 1;
    }
  }
  close(operators_.size());
}

GraphRuns::~GraphRuns() = default;

bool GraphRuns::MayBeRecorded(const OperatorBase& op, size_t place) const {
  if (!op.HasAsyncPart() || op.device_option().device_type() == CPU) return false;
  if (!op.GetSingleArgument<bool>("cuda_graph", true)) return false;
  if (!IsMeantToStayOnItsDevice(op.debug_def())) return false;
  if (!DrawsRandomNumbers(op)) return true;
  LOG(WARNING) << "net \"" << net_ << "\": operator " << order_.positions[place] << " ("
               << op.type() << ") is run on its own, not in a graph: it draws random numbers";
  return false;
}

void GraphRuns::AddPiece(size_t first, size_t end) {
  if (end < first + 2) return;  // a graph of one operator would save no call
  auto piece = std::make_unique<Piece>();
  piece->first = first;
  piece->end = end;
  std::set<const Blob*> known;
  for (size_t i = first; i < end; ++i) {
    for (const Blob* blob : operators_[i]->Inputs()) {
      if (known.insert(blob).second) piece->seen.emplace_back(blob);
    }
    for (const Blob* blob : operators_[i]->Outputs()) {
      if (known.insert(blob).second) piece->seen.emplace_back(blob);
      piece->written.push_back(blob);
    }
  }
  if (pieces_.empty()) pieces_.resize(operators_.size());
  pieces_[first] = std::move(piece);
}

size_t GraphRuns::Start(size_t i, size_t* running) {
  Piece* const piece = pieces_[i].get();
  if (piece == nullptr) {
    Piece one;
    one.first = i;
    one.end = i + 1;
    StartPlain(one, running);
    return i + 1;
  }
  const size_t end = piece->end;
  const bool observed = std::any_of(operators_.begin() + static_cast<std::ptrdiff_t>(piece->first),
                                    operators_.begin() + static_cast<std::ptrdiff_t>(end),
                                    [](OperatorBase* op) { return op->NumObservers() > 0; });
  const std::thread::id thread = std::this_thread::get_id();
  // Before the first capture, memory must have been the same in several runs of one thread. A
  // capture is valid on all threads, and the tensors may move to other addresses.
  if (piece->captures.empty()
          ? piece->runs_alike > 0 && (piece->thread != thread || !piece->IsAsBefore())
          : !piece->IsAlike() || piece->IsStale()) {
    piece->Forget();
  }
  if (!observed && piece->runs_alike >= kPlainRuns) {
    if (piece->Find() || Record(*piece)) {
      Replay(*piece, running);
      return end;
    }
    if (pieces_[i] == nullptr || pieces_[i]->end != end) {  // Record has split the piece
      for (size_t next = i; next < end;) next = Start(next, running);
      return end;
    }
  }
  StartPlain(*piece, running);
  piece->thread = thread;
  piece->Look();
  return end;
}

void GraphRuns::StartPlain(const Piece& piece, size_t* running) {
  for (size_t i = piece.first; i < piece.end; ++i) {
    *running = order_.positions[i];
    StartOperator(operators_[i], order_.stream(i));
  }
}

// Captures the piece. On failure returns false; then none of its operators has run, and the piece
// has been split, removed or reset to its first plain run.
bool GraphRuns::Record(Piece& piece) {
  for (size_t i = piece.first; i < piece.end; ++i) {
    if (StaysOnItsDevice(operators_[i])) continue;
    LeaveOut(piece, i, "not all of its inputs and outputs are tensors on its device");
    return false;
  }
  const DeviceOption& option = operators_[piece.first]->device_option();
  const auto device = static_cast<DeviceType>(option.device_type());
  size_t i = piece.first;
  std::string thrown, refused;
  bool kept = false;
  const bool again = !piece.captures.empty();
  Piece::Capture capture;
  for (const Seen& seen : piece.seen) capture.addresses.push_back(seen.address());
  try {
    if (piece.captures.size() == kMostCaptures) {  // the oldest one is replaced
      capture.graph = std::move(piece.captures.back().graph);
      piece.captures.pop_back();
    } else {
      capture.graph = GetStaticContext(device)->CreateGraph(option);
    }
    CAFFE_ENFORCE(capture.graph != nullptr, DeviceTypeName(device), " does not support graphs");
    capture.graph->BeginCapture(order_.stream(i));
    try {
      for (; i < piece.end; ++i) {
        SeparateOutputs(operators_[i]);
        CAFFE_ENFORCE(operators_[i]->Enqueue(order_.stream(i)), "the operator reports a failure");
      }
    } catch (...) {
      thrown = CurrentExceptionMessage();
    }
    kept = capture.graph->EndCapture(&refused);
  } catch (...) {
    refused = CurrentExceptionMessage();
  }
  const bool moved = kept && thrown.empty();
  if (moved && piece.IsAlike() && piece.IsOf(capture)) {
    piece.captures.insert(piece.captures.begin(), std::move(capture));
    return true;
  }
  piece.Forget();
  // At other addresses or on another thread it may only be memory that is missing: run plainly.
  if (!moved && !again)
    LeaveOut(piece, thrown.empty() ? piece.end : i, thrown.empty() ? refused : thrown);
  return false;
}

// Splits the piece around the operator at `place`, which cannot be captured. If `place` is the end
// of the piece, the operator is unknown, and the whole piece is removed.
void GraphRuns::LeaveOut(Piece& piece, size_t place, const std::string& reason) {
  const size_t first = piece.first, end = piece.end;
  if (place < end) {
    LOG(WARNING) << "net \"" << net_ << "\": operator " << order_.positions[place] << " ("
                 << operators_[place]->type() << ") is run on its own, not in a graph: " << reason;
  } else {
    LOG(WARNING) << "net \"" << net_ << "\": operators " << order_.positions[first] << " to "
                 << order_.positions[end - 1] << " are run one by one, not as a graph: " << reason;
  }
  pieces_[first].reset();
  if (place >= end) return;
  AddPiece(first, place);
  AddPiece(place + 1, end);
}

void GraphRuns::Replay(Piece& piece, size_t* running) {
  *running = kNoPosition;
  try {
    piece.captures.front().graph->Launch(order_.stream(piece.first));
  } catch (EnforceNotMet& error) {
    error.AppendMessage(MakeString("operators ", order_.positions[piece.first], " to ",
                                   order_.positions[piece.end - 1], " as a graph"));
    throw;
  }
  for (const Blob* blob : piece.written) {
    static_cast<const Tensor*>(blob->GetRaw())->storage()->MoveVersion();
  }
}

int GraphRuns::num_recorded() const {
  return static_cast<int>(std::count_if(pieces_.begin(), pieces_.end(), [](const auto& piece) {
    return piece != nullptr && !piece->captures.empty();
  }));
}

}  // namespace caffe2rt
