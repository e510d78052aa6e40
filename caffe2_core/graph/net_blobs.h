#pragma once
// The blobs of a net, and the operators that read and write each of them. Operators are identified
// by their position in the NetDef, blobs by an index. "Before" and "after" refer to positions.
//
//   op { type: "FC" input: "x" input: "w" output: "y" }      blobs: x = 0, w = 1, y = 2
//   op { type: "Relu" input: "y" output: "y" }               output y is in place
//
//   NetBlobs blobs(net);
//   blobs.inputs(0);           // {0, 1}
//   blobs.input_writers(1);    // {0}: Relu reads the output of FC
//   blobs.read_first();        // {0, 1}: the inputs of the net
//   blobs.unread();            // {2}: not read after the last write
//
// Only inputs count as reads, and only outputs as writes. Control inputs, which only order
// operators, and the effects that schemas declare are the subject of dependencies.h.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "caffe2_core/base/language.h"
#include "caffe2rt/caffe2.pb.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

class Blob;

// The Blob objects that the inputs and outputs of one operator are bound to, in order. An input or
// output whose pointer is null is identified by its name.
struct BoundBlobs {
  std::span<const Blob* const> inputs;
  std::span<Blob* const> outputs;
};

// Time and memory are linear in the size of the net. Immutable after construction, and therefore
// thread safe.
class NetBlobs {
 public:
  // No blob, or no operator.
  static constexpr uint32_t kNone = UINT32_MAX;

  // Creates one blob for each name. REQUIRES: `net` outlives this object and does not change.
  explicit NetBlobs(const NetDef& net);
  // Creates one blob for each object: two names of one object (a forwarded blob) are one blob, and
  // a name whose object was replaced between two operators is two blobs. A control input is the
  // blob that its name was last bound to, at its operator or before. If the name was not bound by
  // then, it is the first blob that the name is bound to later. `bound` is only used during
  // construction.
  // REQUIRES: `net` outlives this object and does not change.
  // THROWS unless `bound` has one entry for each operator, with the operator's numbers of inputs
  // and outputs.
  NetBlobs(const NetDef& net, std::span<const BoundBlobs> bound);
  explicit NetBlobs(const NetDef&& net) = delete;
  NetBlobs(const NetDef&& net, std::span<const BoundBlobs> bound) = delete;

  size_t num_operators() const { return (ends_.size() - 1) / 3; }
  // The number of blobs, including those that are only control inputs.
  size_t size() const { return blobs_.size(); }
  // The name of the blob; if it has several, the first one.
  const std::string& name(uint32_t blob) const { return *blobs_[blob].name; }
  // The blob with this name, or kNone if no operator uses the name. If the name was bound to
  // several objects, returns the blob of the last one.
  uint32_t Find(const std::string& name) const;
  // Whether the blob Find(name) is an input, or an output, of any operator.
  bool Reads(const std::string& name) const;
  bool Writes(const std::string& name) const;

  // --- One operator. The results are in the order of the lists in its OperatorDef. ---
  std::span<const uint32_t> inputs(size_t op) const { return Slice(accesses_, 3 * op, 1); }
  std::span<const uint32_t> outputs(size_t op) const { return Slice(accesses_, 3 * op + 1, 1); }
  std::span<const uint32_t> control_inputs(size_t op) const {
    return Slice(accesses_, 3 * op + 2, 1);
  }
  // Inputs, outputs and control inputs, in this order.
  std::span<const uint32_t> all(size_t op) const { return Slice(accesses_, 3 * op, 3); }
  // For each input, the last operator before `op` that writes the blob, or kNone if there is none
  // and the value comes from outside the net.
  std::span<const uint32_t> input_writers(size_t op) const { return Slice(writers_, 3 * op, 1); }
  // Whether output `i` is also an input of the operator.
  bool is_in_place(size_t op, size_t i) const { return in_place_[ends_[3 * op + 1] + i]; }

  // --- One blob. The results are operators, or kNone if there is none. ---
  uint32_t first_writer(uint32_t blob) const { return blobs_[blob].first_writer; }
  uint32_t last_writer(uint32_t blob) const { return blobs_[blob].last_writer; }
  uint32_t last_reader(uint32_t blob) const { return blobs_[blob].last_reader; }

  // --- The net ---
  // The blobs that are read before any operator writes them, in order of their first reads.
  const std::vector<uint32_t>& read_first() const { return read_first_; }
  // The blobs that operators write, in order of their first writes.
  const std::vector<uint32_t>& written() const { return written_; }
  // The blobs of written() that no operator reads after their last write, in the same order.
  std::vector<uint32_t> unread() const;

 private:
  struct BlobUses {
    const std::string* name = nullptr;
    uint32_t first_writer = kNone, last_writer = kNone, last_reader = kNone;
  };

  void Bind(const OperatorDef& op, const BoundBlobs& bound);
  void Add(const OperatorDef& op, uint32_t position, const BoundBlobs* bound);
  uint32_t IndexOf(const std::string& name, const Blob* object);
  uint32_t NewBlob(const std::string& name);
  template <class T>
  std::span<const T> Slice(const std::vector<T>& of, size_t list, size_t lists) const {
    return {of.data() + ends_[list], ends_[list + lists] - ends_[list]};
  }

  std::vector<BlobUses> blobs_;
  std::unordered_map<std::string_view, uint32_t> by_name_;
  std::unordered_map<const Blob*, uint32_t> by_object_;
  // The lists of all operators, concatenated: the inputs, outputs and control inputs of operator 0,
  // then those of operator 1, and so on. List k is the range [ends_[k], ends_[k + 1]) of accesses_,
  // writers_ and in_place_.
  std::vector<uint32_t> accesses_;  // the blob
  std::vector<uint32_t> writers_;   // the last writer of the blob before the access
  std::vector<bool> in_place_;      // whether the access is an output that is also an input
  std::vector<size_t> ends_;
  std::vector<uint32_t> read_first_;
  std::vector<uint32_t> written_;
};

}  // namespace caffe2rt
#pragma GCC visibility pop
