#include "caffe2_core/graph/device_copies.h"

#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_replace.h>

#include <algorithm>
#include <new>
#include <unordered_set>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/device/device_descriptor.h"
#include "caffe2_core/device/device_type.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/nested_nets.h"
#include "caffe2_core/graph/net_blobs.h"

namespace caffe2rt {
namespace {

const DeviceDescriptor* DescriptorOf(const DevicePlace& place) {
  return FindDeviceDescriptor(static_cast<DeviceType>(place.type));
}

std::string SuffixOf(const DevicePlace& place) {
  if (place.type == CPU) return "_cpu";
  const DeviceDescriptor* const device = DescriptorOf(place);
  const std::string name = device != nullptr ? device->blob_suffix : DeviceTypeName(place.type);
  return absl::StrCat("_", absl::StrReplaceAll(absl::AsciiStrToLower(name), {{" ", "_"}}), "_",
                      place.id);
}

// The device option with only the fields that identify the device of a blob.
DeviceOption Bare(const DeviceOption& option) {
  DeviceOption bare;
  bare.set_device_type(option.device_type());
  if (option.device_type() != CPU && option.has_device_id()) bare.set_device_id(option.device_id());
  return bare;
}

// The operator as device inference reads it: with the net's device option merged into its own, and
// without large arguments, which may contain weights and are expensive to copy.
OperatorDef WithNetDevice(const NetDef& net, const OperatorDef& op) {
  constexpr size_t kMostArgumentBytes = 4096;
  OperatorDef placed;
  placed.set_type(op.type());
  *placed.mutable_input() = op.input();
  *placed.mutable_output() = op.output();
  for (const Argument& arg : op.arg()) {
    if (arg.ByteSizeLong() <= kMostArgumentBytes) *placed.add_arg() = arg;
  }
  *placed.mutable_device_option() = MergeDeviceOption(net.device_option(), op.device_option());
  return placed;
}

std::string CopyType(const DevicePlace& from, const DevicePlace& to) {
  if (from.type != CPU && to.type != CPU) return kCopyType;
  const DeviceDescriptor* const device = DescriptorOf(from.type == CPU ? to : from);
  const std::string own = device == nullptr  ? ""
                          : from.type == CPU ? device->copy_from_cpu
                                             : device->copy_to_cpu;
  if (!own.empty()) return own;
  return from.type == CPU ? kCopyFromCPUType : kCopyToCPUType;
}

}  // namespace

void BlobDevices::Place(const std::string& name, const DeviceOption& device) {
  const DevicePlace place = PlaceOf(device);
  blobs_[name] = {.anywhere = false,
                  .home = place,
                  .newest = {{place, {.name = name, .device = Bare(device)}}}};
}

void BlobDevices::PlaceAnywhere(const std::string& name) {
  blobs_[name] = {.anywhere = true, .home = {}, .newest = {}};
}

std::map<std::string, DeviceOption> BlobDevices::BlobToDevice() const {
  std::map<std::string, DeviceOption> devices;
  for (const auto& [name, state] : blobs_) {
    for (const auto& [place, holder] : state.newest) devices[holder.name] = holder.device;
  }
  return devices;
}

// One pass over one net. It adds the operators to the output net in order, with their inputs and
// outputs renamed to the blobs on the right devices, and adds a copy before the first operator that
// needs it. The state of each blob (BlobState) lists the blobs that hold its newest value: a read
// on another device adds a copy to the list, and a write resets the list to the written blob.
class CopyInjector {
 public:
  CopyInjector(const NetDef& net, BlobDevices* blobs, const DeviceCopyOptions& options)
      : net_(net), uses_(net), blobs_(blobs->blobs_), options_(options), out_(net) {
    out_.set_name(net.name() + "_cross_device");
    out_.clear_op();
  }

  NetDef Run() {
    for (int i = 0; i < net_.op_size(); ++i) Add(net_.op(i), i);
    BringBack(net_.external_input());
    BringBack(net_.external_output());
    // A net without a list of external inputs (outputs) leaves all of them to the caller.
    if (net_.external_input_size() == 0) BringBack(NamesOf(uses_.read_first()));
    if (net_.external_output_size() == 0) BringBack(NamesOf(uses_.written()));
    DeclareInputs();
    return std::move(out_);
  }

 private:
  using BlobState = BlobDevices::BlobState;
  using Holder = BlobDevices::Holder;

  void Add(const OperatorDef& original, int position) {
    if (HasNestedNets(original) && !HasStepNet(original)) return AddWithNets(original);
    const OperatorDef placed = WithNetDevice(net_, original);
    const auto [inputs, outputs] = InferOpInputOutputDevice(placed);
    OperatorDef op = original;
    for (int i = 0; i < op.input_size(); ++i) {
      op.set_input(i, Read(original.input(i), inputs[static_cast<size_t>(i)]));
    }
    for (int i = 0; i < op.output_size(); ++i) {
      op.set_output(i, Write(original, i, outputs[static_cast<size_t>(i)], position));
    }
    NoteRenames(original, &op);
    *out_.add_op() = std::move(op);
  }

  // RecurrentNetwork and its gradient list every blob that their step nets read from outside.
  static bool HasStepNet(const OperatorDef& op) {
    return std::any_of(op.arg().begin(), op.arg().end(),
                       [](const Argument& arg) { return arg.name().ends_with("step_net"); });
  }

  // An operator with a step net finds inputs by the names in its arguments. Arguments such as
  // "x.rename" state the new names, as those of Caffe2's memory optimizer do.
  static void NoteRenames(const OperatorDef& original, OperatorDef* op) {
    if (!HasStepNet(original)) return;
    for (int i = 0; i < op->input_size(); ++i) {
      const std::string& name = original.input(i);
      if (op->input(i) == name || GetArgumentPtr(*op, name + ".rename") != nullptr) continue;
      AddArgument(name + ".rename", op->input(i), op);
    }
  }

  // The nets in the arguments use the blobs by name, so the operator gets each blob on its home
  // device, under its own name. Its new outputs are expected on its own device.
  void AddWithNets(const OperatorDef& op) {
    const NestedBlobs nested = NestedBlobsOf(op);
    BringBack(op.input());
    BringBack(op.output());
    BringBack(nested.read);
    BringBack(nested.written);
    const DeviceOption device = MergeDeviceOption(net_.device_option(), op.device_option());
    const auto write = [&](const std::string& name) {
      const auto known = blobs_.find(name);
      if (known == blobs_.end()) {
        BlobDevices fresh;
        fresh.Place(name, device);
        blobs_[name] = fresh.blobs_[name];
      } else if (!known->second.anywhere) {
        const Holder home = known->second.newest.at(known->second.home);
        known->second.newest = {{known->second.home, home}};
      }
    };
    for (const std::string& name : op.output()) write(name);
    for (const std::string& name : nested.written) {
      if (blobs_.contains(name)) write(name);
    }
    *out_.add_op() = op;
  }

  // Returns the blob that holds the newest value of `name` on the device. Adds a copy if there is
  // none. Recurses once to copy through the CPU if neither of two different device types is the
  // CPU.
  std::string Read(const std::string& name, const DeviceOption& device) {
    if (!blobs_.contains(name)) {
      BlobDevices outside;
      outside.Place(name, net_.device_option());
      blobs_[name] = outside.blobs_[name];
    }
    BlobState& state = blobs_[name];
    if (state.anywhere) return name;
    const DevicePlace place = PlaceOf(device);
    if (const auto there = state.newest.find(place); there != state.newest.end()) {
      return there->second.name;
    }
    const Holder source = SourceOf(state, place);
    const DevicePlace from = PlaceOf(source.device);
    if (from.type != CPU && place.type != CPU && from.type != place.type) {
      Read(name, DeviceOption());
      return Read(name, device);
    }
    OperatorDef* copy = out_.add_op();
    copy->set_type(CopyType(from, place));
    copy->add_input(source.name);
    copy->add_output(NameOn(name, state, place));
    *copy->mutable_device_option() = Bare(place.type == CPU ? source.device : device);
    state.newest[place] = {.name = copy->output(0), .device = Bare(device)};
    return copy->output(0);
  }

  // The source of a copy to `place`: the blob on its home device, if one operator can copy from
  // there; otherwise the copy on the CPU, from which every device can be reached; otherwise any.
  static const Holder& SourceOf(const BlobState& state, const DevicePlace& place) {
    const auto home = state.newest.find(state.home);
    const bool direct =
        state.home.type == CPU || place.type == CPU || state.home.type == place.type;
    if (home != state.newest.end() && direct) return home->second;
    const auto cpu = state.newest.find(DevicePlace{});
    return (cpu != state.newest.end() ? cpu : state.newest.begin())->second;
  }

  // Returns the blob to which the operator writes output `i`, which then holds the newest value.
  std::string Write(const OperatorDef& op, int i, const DeviceOption& device, int position) {
    const std::string& name = op.output(i);
    const DevicePlace place = PlaceOf(device);
    const auto known = blobs_.find(name);
    if (known != blobs_.end() && known->second.anywhere && HasInput(op, name)) return name;
    if (known == blobs_.end() || known->second.anywhere || known->second.home == place) {
      BlobDevices fresh;
      fresh.Place(name, device);
      blobs_[name] = fresh.blobs_[name];
      return name;
    }
    BlobState& state = known->second;
    if (!HasInput(op, name)) {
      CAFFE_ENFORCE(options_.may_move_blobs, "net \"", net_.name(), "\", operator ", position, " (",
                    op.type(), "): output \"", name, "\" is written on ", PlaceName(place),
                    ", but the blob is on ", PlaceName(state.home),
                    ": rename the output, or write it on that device and copy it");
      BlobDevices moved;
      moved.Place(name, device);
      state = moved.blobs_[name];
      return name;
    }
    const std::string holder = NameOn(name, state, place);
    state.newest = {{place, {.name = holder, .device = Bare(device)}}};
    return holder;
  }

  // The name of the blob on `place`: its own name on its home device, otherwise the name of the
  // copy there, which is unique in the net.
  std::string NameOn(const std::string& name, const BlobState& state, const DevicePlace& place) {
    if (place == state.home) return name;
    std::string& copy = copies_[{name, place}];
    if (copy.empty()) {
      copy = name + SuffixOf(place);
      while (uses_.Find(copy) != NetBlobs::kNone) copy += "_copy";
    }
    return copy;
  }

  std::vector<std::string> NamesOf(const std::vector<uint32_t>& blobs) const {
    std::vector<std::string> names;
    for (const uint32_t blob : blobs) names.push_back(uses_.name(blob));
    return names;
  }

  // Copies the newest values of these blobs back to their home devices, where needed.
  template <class Names>
  void BringBack(const Names& names) {
    for (const std::string& name : names) {
      const auto known = blobs_.find(name);
      if (known == blobs_.end() || known->second.anywhere) continue;
      DeviceOption home;
      home.set_device_type(known->second.home.type);
      if (home.device_type() != CPU) home.set_device_id(known->second.home.id);
      Read(name, home);
    }
  }

  // Adds the copies that an earlier net made, and that this net reads, to its external inputs.
  void DeclareInputs() {
    if (out_.external_input_size() == 0) return;
    const std::unordered_set<std::string> declared(out_.external_input().begin(),
                                                   out_.external_input().end());
    const NetBlobs uses(out_);
    for (const uint32_t blob : uses.read_first()) {
      const std::string& name = uses.name(blob);
      if (uses_.Find(name) == NetBlobs::kNone && !declared.contains(name)) {
        out_.add_external_input(name);
      }
    }
  }

  const NetDef& net_;
  const NetBlobs uses_;  // of the original net
  std::map<std::string, BlobState>& blobs_;
  const DeviceCopyOptions options_;
  NetDef out_;
  std::map<std::pair<std::string, DevicePlace>, std::string> copies_;
};

NetDef InjectCrossDeviceCopies(const NetDef& net, BlobDevices* blobs,
                               const DeviceCopyOptions& options) try {
  BlobDevices none;
  return CopyInjector(net, blobs != nullptr ? blobs : &none, options).Run();
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

std::vector<NetDef> InjectDeviceCopiesAmongNets(const std::vector<NetDef>& nets,
                                                BlobDevices* blobs) try {
  BlobDevices own;
  std::vector<NetDef> injected;
  for (const NetDef& net : nets) {
    injected.push_back(InjectCrossDeviceCopies(net, blobs != nullptr ? blobs : &own));
  }
  return injected;
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

bool HasSeveralDevices(const NetDef& net) try {
  std::set<DevicePlace> places;
  for (const OperatorDef& op : net.op()) {
    const OperatorDef placed = WithNetDevice(net, op);
    const auto [inputs, outputs] = InferOpInputOutputDevice(placed);
    places.insert(PlaceOf(placed.device_option()));
    for (const DeviceOption& device : inputs) places.insert(PlaceOf(device));
    for (const DeviceOption& device : outputs) places.insert(PlaceOf(device));
    if (places.size() > 1) return true;
  }
  return false;
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

}  // namespace caffe2rt
