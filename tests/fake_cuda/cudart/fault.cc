// Reports an access to device memory by code that must not access it, with the allocation.

#include <pthread.h>
#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "cudart/world.h"

namespace fakecuda {
namespace {

struct sigaction g_before[2];

// "wrote" or "read", or "touched" if the machine does not report which.
const char* Access([[maybe_unused]] void* context) {
#if defined(__x86_64__)
  const auto* machine = static_cast<const ucontext_t*>(context);
  return (machine->uc_mcontext.gregs[REG_ERR] & 2) != 0 ? "wrote" : "read";
#else
  return "touched";
#endif
}

// Formats the report for an address in a device's range. The faulting thread may hold the mutex, so
// this only tries to lock it; if that fails, the report names no allocation.
void Describe(char* text, size_t size, const void* address, const char* access, int device) {
  World& world = TheWorld();
  uintptr_t begin = 0;
  Block block;
  bool found = false;
  const bool locked = world.mutex.try_lock();
  if (locked) {
    if (const Block* live = FindBlock(address, &begin)) {
      block = *live;
      found = true;
    }
    world.mutex.unlock();
  }
  if (found) {
    snprintf(text, size,
             "[fakecuda] code that does not run on device %d %s its memory at %p: byte %zu of the "
             "allocation of %zu bytes at %p\n",
             device, access, address,
             static_cast<size_t>(reinterpret_cast<uintptr_t>(address) - begin), block.bytes,
             reinterpret_cast<void*>(begin));
  } else {
    snprintf(text, size, "[fakecuda] code that does not run on device %d %s its memory at %p: %s\n",
             device, access, address,
             locked ? "in no allocation that is alive" : "allocation not known");
  }
}

void OnFault(int signal, siginfo_t* info, void* context) {
  SetHidden(true);
  World& world = TheWorld();
  for (size_t i = 0; i < world.devices.size(); ++i) {
    const Device& device = *world.devices[i];
    if (!device.arena || !device.arena->Contains(info->si_addr)) continue;
    char text[512];
    Describe(text, sizeof text, info->si_addr, Access(context), static_cast<int>(i));
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text, strlen(text));
    break;
  }
  SetHidden(false);
  // Restore the previous handler. The access is then repeated and handled by it.
  sigaction(signal, &g_before[signal == SIGBUS ? 1 : 0], nullptr);
}

}  // namespace

void InstallFaultReport() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action = {};
    action.sa_sigaction = OnFault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    sigaction(SIGSEGV, &action, &g_before[0]);
    sigaction(SIGBUS, &action, &g_before[1]);
  });
}

}  // namespace fakecuda
