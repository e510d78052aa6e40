#pragma once
// The blobs of a net by index, and which operators read and write them: told from the NetDef, in
// the order in which the operators stand there.
//
//   op { type: "FC" input: "x" input: "w" output: "y" }      blobs: x = 0, w = 1, y = 2
//   op { type: "Relu" input: "y" output: "y" }               y is an output in place
//
//   NetBlobs blobs(net);
//   blobs.inputs(0);           // {0, 1}
//   blobs.input_writers(1);    // {0}: Relu reads what FC wrote
//   blobs.read_first();        // {0, 1}: the net's inputs
//   blobs.unread();            // {2}: written, and not read since
//
// A control input is neither read nor written: it only orders operators (dependencies.h).

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "caffe2rt/caffe2.pb.h"

namespace caffe2rt {

class Blob;

// The objects that the inputs and outputs of one operator are bound to, in order.
struct BoundBlobs {
  std::span<const Blob* const> inputs;
  std::span<Blob* const> outputs;
};

// Time and memory are linear in the size of the net. Immutable, and so thread safe.
class NetBlobs {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  // One blob for each name. REQUIRES: `net` outlives this object and stays as it is.
  explicit NetBlobs(const NetDef& net);
  // One blob for each object: two names of one object (a forwarded blob) are one blob, and a name
  // whose object was replaced between two operators is two. A control input is the blob that its
  // name was bound to last before it, or else first after it. THROWS when `bound` does not fit the
  // net.
  NetBlobs(const NetDef& net, std::span<const BoundBlobs> bound);
  explicit NetBlobs(const NetDef&& net) = delete;
  NetBlobs(const NetDef&& net, std::span<const BoundBlobs> bound) = delete;

  size_t num_operators() const { return (ends_.size() - 1) / 3; }
  // Number of blobs. Those that are only control inputs count too.
  size_t size() const { return blobs_.size(); }
  // The first name of the blob.
  const std::string& name(uint32_t blob) const { return *blobs_[blob].name; }
  // The blob of that name, of several objects the last; kNone: no operator names it.
  uint32_t Find(const std::string& name) const;
  // Whether an operator has a blob of this name as an input, or as an output.
  bool Reads(const std::string& name) const;
  bool Writes(const std::string& name) const;

  // --- of one operator, in the order of its lists ---
  std::span<const uint32_t> inputs(size_t op) const { return Slice(accesses_, 3 * op, 1); }
  std::span<const uint32_t> outputs(size_t op) const { return Slice(accesses_, 3 * op + 1, 1); }
  std::span<const uint32_t> control_inputs(size_t op) const {
    return Slice(accesses_, 3 * op + 2, 1);
  }
  // Inputs, outputs and control inputs.
  std::span<const uint32_t> all(size_t op) const { return Slice(accesses_, 3 * op, 3); }
  // The operators whose outputs its inputs are; kNone: it was there before the net ran.
  std::span<const uint32_t> input_writers(size_t op) const { return Slice(writers_, 3 * op, 1); }
  // Whether output `i` is an input too.
  bool is_in_place(size_t op, size_t i) const { return in_place_[ends_[3 * op + 1] + i]; }

  // --- of one blob; kNone: no operator ---
  uint32_t first_writer(uint32_t blob) const { return blobs_[blob].first_writer; }
  uint32_t last_writer(uint32_t blob) const { return blobs_[blob].last_writer; }
  uint32_t last_reader(uint32_t blob) const { return blobs_[blob].last_reader; }

  // --- of the net ---
  // Blobs that are read before an operator writes them, in order of their first reads.
  const std::vector<uint32_t>& read_first() const { return read_first_; }
  // Blobs that operators write, in order of their first writes.
  const std::vector<uint32_t>& written() const { return written_; }
  // Those of them that no operator reads after the last write.
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
  // The lists of all operators one after the other: inputs, outputs, control inputs. List k begins
  // where list k - 1 ends, at ends_[k].
  std::vector<uint32_t> accesses_;
  std::vector<uint32_t> writers_;  // of the blob before the access
  std::vector<bool> in_place_;     // of an output
  std::vector<size_t> ends_;
  std::vector<uint32_t> read_first_;
  std::vector<uint32_t> written_;
};

}  // namespace caffe2rt
