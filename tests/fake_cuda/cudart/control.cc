// The controls of fake_cuda.h.

#include <cctype>
#include <cinttypes>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "cudart/event.h"
#include "cudart/graph.h"
#include "cudart/mem_pool.h"
#include "cudart/world.h"

namespace fakecuda {
namespace {

// Objects that may own arguments of user code; moved here to be released without the lock.
struct Remains {
  Handles<std::shared_ptr<Graph>> graphs;
  Handles<std::shared_ptr<GraphExec>> execs;
  std::vector<std::shared_ptr<Capture>> captures;
};

void Drop(World& world, Remains* remains) {
  for (const auto& capture : world.captures) {
    for (const StreamP& stream : capture->streams) stream->capture.reset();
  }
  remains->graphs = std::exchange(world.graphs, {});
  remains->execs = std::exchange(world.execs, {});
  remains->captures.swap(world.captures);
  for (const auto& [address, block] : world.blocks) {
    if (block.kind == BlockKind::kPinned || block.kind == BlockKind::kManaged) {
      free(reinterpret_cast<void*>(address));
    }
  }
  world.blocks.clear();
  world.streams.RemoveAll();
  world.events.RemoveAll();
  world.pools.RemoveAll();
  world.default_pools.clear();
  world.made_pools.clear();
  world.faults.clear();
  world.calls.clear();
  world.hooks.clear();
  world.values.clear();
  world.async_after = -1;
  world.unloading = false;
  ++world.epoch;
}

class LeakList {
 public:
  LeakList(void (*visit)(void*, const char*), void* state) : visit_(visit), state_(state) {}
  int count() const { return count_; }

  __attribute__((format(printf, 2, 3))) void Add(const char* format, ...) {
    ++count_;
    if (visit_ == nullptr) return;
    char line[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    Shown shown;
    visit_(state_, line);
  }

 private:
  void (*visit_)(void*, const char*);
  void* state_;
  int count_ = 0;
};

void ListBlocks(const World& world, LeakList* list) {
  static const char* const kKinds[] = {"device memory", "pinned memory", "registered memory",
                                       "managed memory"};
  for (const auto& [address, block] : world.blocks) {
    list->Add("%s of %zu bytes at 0x%" PRIxPTR ", device %d", kKinds[static_cast<int>(block.kind)],
              block.bytes, address, block.device);
  }
}

// Formats a text that is valid until the thread's next call of fakecuda_check_range.
__attribute__((format(printf, 1, 2))) const char* Text(const char* format, ...) {
  static thread_local char text[256];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return text;
}

bool CanReach(const Block& block, int device) {
  if (block.kind != BlockKind::kDevice || block.device == device) return true;
  if (block.pool != nullptr) return ((block.pool->access >> device) & 1) != 0;
  return ((Reach(device) >> block.device) & 1) != 0;
}

}  // namespace

long ValueOf(const char* name, long otherwise) {
  const auto it = TheWorld().values.find(name);
  if (it != TheWorld().values.end()) return it->second;
  std::string variable = "FAKECUDA_";
  for (const char* c = name; *c != '\0'; ++c) variable += static_cast<char>(toupper(*c));
  const char* const text = getenv(variable.c_str());
  return text != nullptr && *text != '\0' ? strtol(text, nullptr, 10) : otherwise;
}

}  // namespace fakecuda

using namespace fakecuda;

extern "C" {

void fakecuda_reset(const FakeCudaConfig* config) {
  Hidden hidden;
  World& world = TheWorld();
  if (world.forked) return;
  Quiesce(false);
  Remains remains;
  std::unique_lock<std::mutex> lock(world.mutex);
  Drop(world, &remains);
  BuildDevices(config);
  Me();
  lock.unlock();
}

void fakecuda_set_limit(int device, size_t bytes) {
  Hidden hidden;
  World& world = TheWorld();
  std::lock_guard<std::mutex> lock(world.mutex);
  if (!world.built) BuildDevices(nullptr);
  if (ValidDevice(device)) world.devices[static_cast<size_t>(device)]->limit = bytes;
}

void fakecuda_fail(const char* function, int after, int times, cudaError_t error, int sticky) {
  Hidden hidden;
  std::lock_guard<std::mutex> lock(TheWorld().mutex);
  TheWorld().faults[function] = {after, times, error, sticky != 0};
}

void fakecuda_fail_async(int after, cudaError_t error) {
  Hidden hidden;
  std::lock_guard<std::mutex> lock(TheWorld().mutex);
  TheWorld().async_after = after;
  TheWorld().async_error = error;
}

void fakecuda_pause(cudaStream_t handle) {
  Hidden hidden;
  std::lock_guard<std::mutex> lock(TheWorld().mutex);
  if (const StreamP stream = Resolve(handle)) stream->paused = true;
}

void fakecuda_resume(cudaStream_t handle) {
  Hidden hidden;
  std::lock_guard<std::mutex> lock(TheWorld().mutex);
  if (const StreamP stream = Resolve(handle)) {
    stream->paused = false;
    stream->arrived.notify_all();
  }
}

void fakecuda_before(const char* function, void (*hook)(void*), void* state) {
  Hidden hidden;
  std::lock_guard<std::mutex> lock(TheWorld().mutex);
  TheWorld().hooks[function] = {hook, state};
}

long fakecuda_calls(const char* function) {
  Hidden hidden;
  std::lock_guard<std::mutex> lock(TheWorld().mutex);
  const auto it = TheWorld().calls.find(function);
  return it == TheWorld().calls.end() ? 0 : it->second;
}

void fakecuda_reset_calls() {
  Hidden hidden;
  std::lock_guard<std::mutex> lock(TheWorld().mutex);
  TheWorld().calls.clear();
}

size_t fakecuda_live_bytes(int device) {
  Hidden hidden;
  std::lock_guard<std::mutex> lock(TheWorld().mutex);
  return ValidDevice(device) ? TheWorld().devices[static_cast<size_t>(device)]->used : 0;
}

size_t fakecuda_peak_bytes(int device) {
  Hidden hidden;
  std::lock_guard<std::mutex> lock(TheWorld().mutex);
  return ValidDevice(device) ? TheWorld().devices[static_cast<size_t>(device)]->peak : 0;
}

int fakecuda_has_context(int device) {
  Hidden hidden;
  std::lock_guard<std::mutex> lock(TheWorld().mutex);
  return ValidDevice(device) && TheWorld().devices[static_cast<size_t>(device)]->has_context;
}

int fakecuda_leaks(void (*visit)(void*, const char*), void* state) {
  Hidden hidden;
  World& world = TheWorld();
  std::lock_guard<std::mutex> lock(world.mutex);
  LeakList list(visit, state);
  ListBlocks(world, &list);
  for (const auto& [handle, stream] : world.streams.live()) {
    list.Add("stream %p, device %d", handle, stream->device);
  }
  for (const auto& [handle, event] : world.events.live()) {
    list.Add("event %p, device %d", handle, event->device);
  }
  for (const auto& pool : world.made_pools) {
    for (const auto& [handle, live] : world.pools.live()) {
      if (live == pool) list.Add("memory pool %p, device %d", handle, pool->device);
    }
  }
  for (const auto& [handle, graph] : world.graphs.live()) list.Add("graph %p", handle);
  for (const auto& [handle, exec] : world.execs.live()) list.Add("executable graph %p", handle);
  return list.count();
}

void fakecuda_set_unloading(int unloading) {
  Hidden hidden;
  std::lock_guard<std::mutex> lock(TheWorld().mutex);
  TheWorld().unloading = unloading != 0;
}

void fakecuda_set(const char* value, long number) {
  Hidden hidden;
  std::lock_guard<std::mutex> lock(TheWorld().mutex);
  TheWorld().values[value] = number;
}

long fakecuda_get(const char* value, long otherwise) {
  Hidden hidden;
  std::lock_guard<std::mutex> lock(TheWorld().mutex);
  return ValueOf(value, otherwise);
}

void fakecuda_spend(long microseconds) {
  Hidden hidden;
  std::lock_guard<std::mutex> lock(TheWorld().mutex);
  TheWorld().spent += std::chrono::microseconds(microseconds);
}

cudaError_t fakecuda_library_call(const char* function) {
  Call call(function, kIgnoresSticky);
  return call.refused() ? call.Refuse() : cudaSuccess;
}

const char* fakecuda_check_range(const void* ptr, size_t bytes, int device) {
  Hidden hidden;
  std::lock_guard<std::mutex> lock(TheWorld().mutex);
  if (bytes == 0) return nullptr;
  if (ptr == nullptr) return Text("a null pointer");
  uintptr_t begin = 0;
  const Block* block = FindBlock(ptr, &begin);
  if (block == nullptr) return Text("%p lies in no allocation of CUDA that is alive", ptr);
  const size_t offset = reinterpret_cast<uintptr_t>(ptr) - begin;
  if (bytes > block->bytes - offset) {
    return Text("[%p, +%zu) ends %zu bytes behind its allocation of %zu bytes", ptr, bytes,
                offset + bytes - block->bytes, block->bytes);
  }
  if (CanReach(*block, device)) return nullptr;
  return Text("%p is memory of device %d, which device %d cannot reach", ptr, block->device,
              device);
}

}  // extern "C"
