#include "caffe2_core/graph/net_blobs.h"

#include <new>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/base/text.h"

namespace caffe2rt {

NetBlobs::NetBlobs(const NetDef& net) try : ends_{0} {
  for (int i = 0; i < net.op_size(); ++i) Add(net.op(i), static_cast<uint32_t>(i), nullptr);
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

NetBlobs::NetBlobs(const NetDef& net, std::span<const BoundBlobs> bound) try : ends_{0} {
  CAFFE_ENFORCE_EQ(bound.size(), static_cast<size_t>(net.op_size()), "operators bound for net \"",
                   net.name(), "\"");
  for (int i = 0; i < net.op_size(); ++i) {
    const OperatorDef& op = net.op(i);
    const BoundBlobs& blobs = bound[static_cast<size_t>(i)];
    CAFFE_ENFORCE(blobs.inputs.size() == static_cast<size_t>(op.input_size()) &&
                      blobs.outputs.size() == static_cast<size_t>(op.output_size()),
                  "operator ", i, " (", op.type(), ") of net \"", net.name(), "\" is bound to ",
                  CountText(blobs.inputs.size(), "input"), " and ",
                  CountText(blobs.outputs.size(), "output"), ", want ", op.input_size(), " and ",
                  op.output_size());
    Bind(op, blobs);
  }
  for (int i = 0; i < net.op_size(); ++i) {
    Add(net.op(i), static_cast<uint32_t>(i), &bound[static_cast<size_t>(i)]);
  }
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

// Maps each name to the first object that it is bound to, for control inputs that use the name
// before that.
void NetBlobs::Bind(const OperatorDef& op, const BoundBlobs& bound) {
  const auto bind = [this](const std::string& name, const Blob* object) {
    if (object == nullptr) return;
    const auto known = by_object_.find(object);
    by_name_.try_emplace(
        name, known != by_object_.end() ? known->second : by_object_[object] = NewBlob(name));
  };
  for (int i = 0; i < op.input_size(); ++i) bind(op.input(i), bound.inputs[static_cast<size_t>(i)]);
  for (int i = 0; i < op.output_size(); ++i) {
    bind(op.output(i), bound.outputs[static_cast<size_t>(i)]);
  }
}

// Appends the accesses of one operator. Inputs come first, so that the writer of an in-place input
// is the previous writer, not the operator itself.
void NetBlobs::Add(const OperatorDef& op, uint32_t position, const BoundBlobs* bound) {
  const auto add = [this](uint32_t blob, bool in_place) {
    accesses_.push_back(blob);
    writers_.push_back(blobs_[blob].last_writer);
    in_place_.push_back(in_place);
  };
  for (int i = 0; i < op.input_size(); ++i) {
    const uint32_t blob =
        IndexOf(op.input(i), bound != nullptr ? bound->inputs[static_cast<size_t>(i)] : nullptr);
    BlobUses& uses = blobs_[blob];
    if (uses.last_writer == kNone && uses.last_reader == kNone) read_first_.push_back(blob);
    uses.last_reader = position;
    add(blob, false);
  }
  ends_.push_back(accesses_.size());
  for (int i = 0; i < op.output_size(); ++i) {
    const uint32_t blob =
        IndexOf(op.output(i), bound != nullptr ? bound->outputs[static_cast<size_t>(i)] : nullptr);
    BlobUses& uses = blobs_[blob];
    add(blob, uses.last_reader == position);
    if (uses.first_writer == kNone) {
      uses.first_writer = position;
      written_.push_back(blob);
    }
    uses.last_writer = position;
  }
  ends_.push_back(accesses_.size());
  for (const std::string& input : op.control_input()) add(IndexOf(input, nullptr), false);
  ends_.push_back(accesses_.size());
}

// The blob of the object, or of the name if `object` is null. Creates it if there is none.
uint32_t NetBlobs::IndexOf(const std::string& name, const Blob* object) {
  if (object == nullptr) {
    const auto known = by_name_.find(name);
    return known != by_name_.end() ? known->second : by_name_[name] = NewBlob(name);
  }
  const auto known = by_object_.find(object);
  const uint32_t blob =
      known != by_object_.end() ? known->second : by_object_[object] = NewBlob(name);
  return by_name_[name] = blob;
}

uint32_t NetBlobs::NewBlob(const std::string& name) {
  CAFFE_ENFORCE_LT(blobs_.size(), static_cast<size_t>(kNone), "blobs of a net");
  blobs_.push_back({.name = &name});
  return static_cast<uint32_t>(blobs_.size() - 1);
}

uint32_t NetBlobs::Find(const std::string& name) const {
  const auto known = by_name_.find(name);
  return known == by_name_.end() ? kNone : known->second;
}

bool NetBlobs::Reads(const std::string& name) const {
  const uint32_t blob = Find(name);
  return blob != kNone && blobs_[blob].last_reader != kNone;
}

bool NetBlobs::Writes(const std::string& name) const {
  const uint32_t blob = Find(name);
  return blob != kNone && blobs_[blob].last_writer != kNone;
}

std::vector<uint32_t> NetBlobs::unread() const {
  std::vector<uint32_t> unread;
  for (const uint32_t blob : written_) {
    const BlobUses& uses = blobs_[blob];
    if (uses.last_reader == kNone || uses.last_reader <= uses.last_writer) unread.push_back(blob);
  }
  return unread;
}

}  // namespace caffe2rt
