#pragma once
// A graph pass that inserts the copies between devices into a net.
//
//   BlobDevices blobs;
//   NetDef init = InjectCrossDeviceCopies(init_net, &blobs);
//   NetDef predict = InjectCrossDeviceCopies(predict_net, &blobs);   // continues from init's state
//
// If an operator reads blob x on a device that does not hold it, the pass inserts an operator that
// copies x there. The copy is a blob named "x_cpu", "x_gpu_1" for a GPU
// (DeviceDescriptor::blob_suffix), or "x_counting_0" for a user's device type named COUNTING. Later
// operators on that device read the same copy until x is written again.
//
// The home of x is the device of the blob named x. Outputs keep their names, with one exception: if
// an operator updates x in place on a device other than its home, its output is the copy on that
// device, which then holds the newest value of x. If a later operator reads x on its home, the
// value is first copied back under the name x. The same happens at the end of the net if x is an
// external input or output. If the net lists no external inputs, all blobs that it reads before it
// writes them count as such; if it lists no external outputs, all blobs that it writes count.
//
// An operator with nets in its arguments (nested_nets.h) gets every blob on its home, because the
// nets use the blobs by name. A copy inside such a net is inserted when that net is created.
//
// CopyCPUToGPU runs on the destination, CopyGPUToCPU on the source, and Copy between two GPUs on
// the destination. Device types without copy operators of their own use CopyFromCPUInput and
// EnsureCPUOutput instead of the first two. A copy between two different device types, neither of
// which is the CPU, goes through the CPU.
//
// Two nets of one workspace that copy the same blob share the copy, so they must not run at the
// same time.

#include <map>
#include <string>
#include <vector>

#include "caffe2_core/graph/device_inference.h"
#include "caffe2rt/caffe2.pb.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

// The devices that hold the newest value of each blob. Passed from net to net. Not thread safe.
class BlobDevices {
 public:
  // Records that the newest value of `name` is on `device`, under its own name, and nowhere else.
  void Place(const std::string& name, const DeviceOption& device);
  // Records that the blob holds an object that is not a tensor. Such a blob is never copied.
  void PlaceAnywhere(const std::string& name);
  bool Knows(const std::string& name) const { return blobs_.contains(name); }
  // All blobs that hold a newest value, including copies, and the device of each.
  std::map<std::string, DeviceOption> BlobToDevice() const;

 private:
  friend class CopyInjector;
  struct Holder {
    std::string name;
    DeviceOption device;
  };
  // Invariant: unless `anywhere` is set, `newest` is not empty, and newest[home], if present, has
  // the blob's own name.
  struct BlobState {
    bool anywhere = false;                 // not a tensor: never copied
    DevicePlace home;
    std::map<DevicePlace, Holder> newest;  // the blobs that hold the newest value
  };
  std::map<std::string, BlobState> blobs_;
};

struct DeviceCopyOptions {
  // Whether an operator that does not read a blob may write it on a device other than its home,
  // which then becomes its home. If false, this is an error, because the caller that fed the blob
  // expects it to stay where it is.
  bool may_move_blobs = false;
};

// Returns `net` with copies inserted, named `<name>_cross_device`, and updates `blobs` to the state
// after the net. `blobs` may be null. A blob that is not in `blobs` and is read before it is
// written is assumed to be on the device of the net. Unless options.may_move_blobs is set, THROWS
// if an operator writes a blob on a device other than its home without reading it.
NetDef InjectCrossDeviceCopies(const NetDef& net, BlobDevices* blobs = nullptr,
                               const DeviceCopyOptions& options = {});

// Applies InjectCrossDeviceCopies to nets that run one after the other.
std::vector<NetDef> InjectDeviceCopiesAmongNets(const std::vector<NetDef>& nets,
                                                BlobDevices* blobs = nullptr);

// Whether the operators of the net run, read or write on more than one device.
bool HasSeveralDevices(const NetDef& net);

}  // namespace caffe2rt
#pragma GCC visibility pop
