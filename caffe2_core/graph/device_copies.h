#pragma once
// Nets of several devices: the copies between them, put in by a graph pass.
//
//   BlobDevices blobs;
//   NetDef init = InjectCrossDeviceCopies(init_net, &blobs);
//   NetDef predict = InjectCrossDeviceCopies(predict_net, &blobs);   // knows where init left what
//
// An operator that reads blob x on another device than where x is gets a copy of it: "x_cpu",
// "x_gpu_1" for a GPU (blob_suffix of its descriptor), "x_counting_0" for a user's device type
// named COUNTING. Operators that follow use the same copy, until x is written again. Outputs keep
// their names. An output that is an input too, and whose input was copied, is the copy: from there
// on that is the newest x. Who reads x where it was at first, and the end of the net when x is one
// of its external inputs or outputs, gets it back under its own name.
//
// Copies are CopyCPUToGPU under the destination, CopyGPUToCPU under the source and Copy under the
// destination between GPUs; other device types have CopyFromCPUInput and EnsureCPUOutput in place
// of the first two, and what goes from one type to another goes through the CPU.
//
// Two nets of one workspace that copy the same blob share the copy: they must not run at once.

#include <map>
#include <string>
#include <vector>

#include "caffe2_core/graph/device_inference.h"
#include "caffe2rt/caffe2.pb.h"

namespace caffe2rt {

// Where the newest values of blobs are, carried from net to net.
class BlobDevices {
 public:
  // The newest value of `name` is on `device`, under its own name, and nowhere else.
  void Place(const std::string& name, const DeviceOption& device);
  // What is no tensor is never copied.
  void PlaceAnywhere(const std::string& name);
  bool Knows(const std::string& name) const { return blobs_.contains(name); }
  // Every blob with a value that is not old, copies included, and its device.
  std::map<std::string, DeviceOption> BlobToDevice() const;

 private:
  friend class CopyInjector;
  struct Holder {
    std::string name;
    DeviceOption device;
  };
  // Invariant: unless `anywhere`, `newest` is not empty, and the holder on the place `home`, if
  // there is one, has the blob's own name.
  struct BlobState {
    bool anywhere = false;
    DevicePlace home;
    std::map<DevicePlace, Holder> newest;  // equal values
  };
  std::map<std::string, BlobState> blobs_;
};

struct DeviceCopyOptions {
  // An operator may make a blob anew on another device than where it is. Else it is an error: who
  // fed the blob will look for it where it was.
  bool may_move_blobs = false;
};

// The net with copies, named `<name>_cross_device`. Blobs that `blobs` (null: none) does not know
// are on the net's device when they are read before they are written. `blobs` is brought up to
// date. THROWS naming the operator and the blob for one that is written on another device than
// where it is without being an input.
NetDef InjectCrossDeviceCopies(const NetDef& net, BlobDevices* blobs = nullptr,
                               const DeviceCopyOptions& options = {});

// The same for nets that run one after the other.
std::vector<NetDef> InjectDeviceCopiesAmongNets(const std::vector<NetDef>& nets,
                                                BlobDevices* blobs = nullptr);

// Whether operators of the net read or write on several devices.
bool HasSeveralDevices(const NetDef& net);

}  // namespace caffe2rt
