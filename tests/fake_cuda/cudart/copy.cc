// Copies: classifies the memory of both sides, orders the copy, and copies the bytes.

#include "cudart/copy.h"

#include <cstring>
#include <vector>

namespace fakecuda {
namespace {

// Whether all rows of `rect` lie in one block. Pageable host memory is not checked.
bool InsideBlock(const Side& side, const Rect& rect) {
  if (side.block == nullptr) return true;
  const size_t extent = (rect.rows - 1) * side.pitch + rect.width;
  return side.offset + extent <= side.block->bytes;
}

Side SideOf(const void* ptr, size_t pitch) {
  Side side;
  side.ptr = static_cast<char*>(const_cast<void*>(ptr));
  side.pitch = pitch;
  uintptr_t begin = 0;
  side.block = FindBlock(ptr, &begin);
  side.offset = reinterpret_cast<uintptr_t>(ptr) - begin;
  if (side.block != nullptr) side.device = side.block->device;
  for (const auto& device : TheWorld().devices) {
    if (device->arena && device->arena->Contains(ptr)) side.dead = side.block == nullptr;
  }
  return side;
}

bool KindFits(cudaMemcpyKind kind, const Side& from, const Side& to) {
  if (from.managed() || to.managed()) return true;
  const bool from_device = from.on_device();
  const bool to_device = to.on_device();
  switch (kind) {
    case cudaMemcpyHostToHost:
      return !from_device && !to_device;
    case cudaMemcpyHostToDevice:
      return !from_device && to_device;
    case cudaMemcpyDeviceToHost:
      return from_device && !to_device;
    case cudaMemcpyDeviceToDevice:
      return from_device && to_device;
    default:
      return true;
  }
}

void CopyRows(char* to, size_t to_pitch, const char* from, size_t from_pitch, const Rect& rect) {
  Shown shown;  // these are accesses of the user's program
  if (to_pitch == rect.width && from_pitch == rect.width) {
    memmove(to, from, rect.width * rect.rows);
    return;
  }
  for (size_t row = 0; row < rect.rows; ++row) {
    memmove(to + row * to_pitch, from + row * from_pitch, rect.width);
  }
}

// A copy of the rows of a pageable source.
std::shared_ptr<std::vector<char>> Stage(const Side& from, const Rect& rect) {
  auto staged = std::make_shared<std::vector<char>>(rect.width * rect.rows);
  CopyRows(staged->data(), rect.width, from.ptr, from.pitch, rect);
  return staged;
}

void CountCopy(const Side& from, const Side& to) {
  if (from.pageable() || to.pageable()) Count("pageable_copy");
  if (!from.on_device() || !to.on_device() || from.device == to.device) return;
  const World& world = TheWorld();
  const bool direct = world.devices[static_cast<size_t>(to.device)]->peers.contains(from.device) ||
                      world.devices[static_cast<size_t>(from.device)]->peers.contains(to.device);
  Count(direct ? "peer_copy_direct" : "peer_copy_staged");
}

}  // namespace

cudaError_t Copy(Call& call, const CopyArguments& a) {
  if (a.kind > cudaMemcpyDefault) return call.Return(cudaErrorInvalidMemcpyDirection);
  if (a.rect.width == 0 || a.rect.rows == 0) return cudaSuccess;
  if (a.to == nullptr || a.from == nullptr) return call.Return(cudaErrorInvalidValue);
  if (a.rect.rows > 1 && (a.to_pitch < a.rect.width || a.from_pitch < a.rect.width)) {
    return call.Return(cudaErrorInvalidPitchValue);
  }
  const StreamP stream = Resolve(a.stream);
  if (!stream) return call.Return(cudaErrorInvalidResourceHandle);
  if (!a.async) {
    const cudaError_t error = ForbidInCapture();
    if (error != cudaSuccess) return call.Return(error);
  }
  const Side from = SideOf(a.from, a.from_pitch);
  const Side to = SideOf(a.to, a.to_pitch);
  if (from.dead || to.dead || !InsideBlock(from, a.rect) || !InsideBlock(to, a.rect) ||
      !KindFits(a.kind, from, to)) {
    return call.Return(cudaErrorInvalidValue);
  }
  CountCopy(from, to);
  const bool staged = from.pageable() && to.on_device();
  // Copies within a device never block the host. Asynchronous copies block it if they write to
  // pageable memory or if neither side is on a device.
  const bool touches_device = from.on_device() || to.on_device();
  const bool within_device = from.on_device() && to.on_device();
  const bool wait = (a.async ? !touches_device : !within_device && !staged) ||
                    (from.on_device() && to.pageable());
  Work work{.name = "copy", .type = cudaGraphNodeTypeMemcpy};
  if (from.on_device()) work.devices |= DeviceSet{1} << from.device;
  if (to.on_device()) work.devices |= DeviceSet{1} << to.device;
  const Rect rect = a.rect;
  if (staged && !a.async) {
    if (stream->legacy) OrderWithLegacy(stream);
    const cudaError_t error =
        stream->last ? call.WaitFor({stream->last}, stream->device) : cudaSuccess;
    if (error != cudaSuccess) return error;
  }
  if (staged && !stream->capture) {
    work.run = [staged = Stage(from, rect), to, rect] {
      CopyRows(to.ptr, to.pitch, staged->data(), rect.width, rect);
      return cudaSuccess;
    };
  } else {
    work.run = [from, to, rect] {
      CopyRows(to.ptr, to.pitch, from.ptr, from.pitch, rect);
      return cudaSuccess;
    };
  }
  OpP op;
  const cudaError_t error = Submit(stream, std::move(work), &op);
  if (error != cudaSuccess) return call.Return(error);
  return op && wait ? call.WaitFor({op}, stream->device) : cudaSuccess;
}

}  // namespace fakecuda

using namespace fakecuda;

extern "C" {

cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  FAKECUDA_CALL(kPlain);
  return Copy(call, {to, bytes, from, bytes, {bytes, 1}, kind, nullptr, false});
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  FAKECUDA_CALL(kPlain);
  return Copy(call, {to, bytes, from, bytes, {bytes, 1}, kind, stream, true});
}

cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                         size_t width, size_t height, cudaMemcpyKind kind) {
  FAKECUDA_CALL(kPlain);
  return Copy(call, {to, to_pitch, from, from_pitch, {width, height}, kind, nullptr, false});
}

cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                              size_t width, size_t height, cudaMemcpyKind kind,
                              cudaStream_t stream) {
  FAKECUDA_CALL(kPlain);
  return Copy(call, {to, to_pitch, from, from_pitch, {width, height}, kind, stream, true});
}

// Ordered with all work of both devices; the fake makes the host wait for that work.
cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device,
                           size_t bytes) {
  FAKECUDA_CALL(kPlain);
  if (!ValidDevice(to_device) || !ValidDevice(from_device)) {
    return call.Return(cudaErrorInvalidDevice);
  }
  std::vector<OpP> before = LastOps(to_device);
  const std::vector<OpP> more = LastOps(from_device);
  before.insert(before.end(), more.begin(), more.end());
  const cudaError_t error = call.WaitFor(before, to_device);
  if (error != cudaSuccess) return error;
  const cudaError_t copied =
      Copy(call, {to, bytes, from, bytes, {bytes, 1}, cudaMemcpyDeviceToDevice, nullptr, false});
  if (copied != cudaSuccess) return copied;
  return call.WaitFor(LastOps(Me().device), Me().device);
}

cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device,
                                size_t bytes, cudaStream_t stream) {
  FAKECUDA_CALL(kPlain);
  if (!ValidDevice(to_device) || !ValidDevice(from_device)) {
    return call.Return(cudaErrorInvalidDevice);
  }
  return Copy(call, {to, bytes, from, bytes, {bytes, 1}, cudaMemcpyDeviceToDevice, stream, true});
}

}  // extern "C"
