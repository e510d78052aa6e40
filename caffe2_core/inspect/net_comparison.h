#pragma once
// Compares the values of all blobs of two nets, or of a net and expected tensors.
//
//   for (const ComparedValue& value : CompareNets({net_a, &ws_a}, {net_b, &ws_b}, {})) {
//     if (!value.within()) std::cout << value.name << " differs after " << value.first;
//   }
//
// The nets run operator by operator (blob_watch.h). Values are matched by the name of their blob,
// and those of a blob with several values counted from the last one (graph/blob_values.h): a net of
// two operators in place and its optimized form of one operator agree on the last value. The values
// of an optimized net are counted as in the net that it was made from. A blob X_ideep, which the graph passes write in place of X, counts as X in a net without X.

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "caffe2_core/io/npy.h"
#include "caffe2_core/tensor/tensor_difference.h"
#include "caffe2rt/caffe2.pb.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

class Workspace;

struct ComparedValue {
  enum class Presence { kBoth, kFirstOnly, kSecondOnly };

  std::string name = {};  // the blob, as BlobValue::Title
  std::string blob = {};
  Presence presence = Presence::kBoth;
  // The operators that write the value, in the first and in the second net; -1: none, the blob has
  // it when the net begins, or it is an expected tensor.
  int first = -1, second = -1;
  bool last = true;       // the last value of the blob
  std::string type = {};  // of the first, such as "float [2, 3]"; empty if it is not a tensor
  TensorDifference difference = {};

  // Whether both have the value, within the tolerance.
  bool within() const { return presence == Presence::kBoth && difference.within(); }
};

// A value of a net: the position of the operator that writes it, and the blob.
using NetValue = std::pair<int, std::string>;

struct NetToCompare {
  const NetDef& net;  // a result of NetToWatch
  Workspace* ws;      // with the inputs of the net, and without a net of its name
  // Values that are not compared, and that do not count as values of their blobs.
  std::set<NetValue> left_out = {};
  // Of an optimized net: CountsFromLast of the net that it was made from.
  std::map<NetValue, int> from_last = {};
};

// For the values of an optimized net, the number of later values that the same blob has in the net
// that it was made from, in which fewer operators are fused. Values that net does not have are left
// out. REQUIRES: as ValuesOfPasses.
std::map<NetValue, int> CountsFromLast(const NetDef& written, const NetDef& optimized);

// The values of an optimized net that the net it was made from does not have, although they have the
// name of one of its blobs: a fused operator may work in place in the memory of an operand.
// REQUIRES: `optimized` is a result of PrepareNet for `written`, before NetToWatch.
std::set<NetValue> ValuesOfPasses(const NetDef& written, const NetDef& optimized);

// Runs both nets once, the first one first, and compares all values that both have. Returns the
// values of the first net in their order, and then those that only the second net has. Values that
// both nets get from outside are left out if they are equal. Objects that are neither tensors nor
// strings count as equal. Memory: a copy of each value of the first net that the second has too.
// THROWS if a net fails.
std::vector<ComparedValue> CompareNets(const NetToCompare& first, const NetToCompare& second,
                                       const Tolerance& tolerance);

// Runs the net once and compares its values with `expected`. The names are keys of values
// (BlobValue::key): of a blob with several values, the name of the blob is its last value. Of a
// quantized tensor, the stored elements are compared. Returns the expected values in the order of
// the net, and then those that the net does not have. THROWS if the net fails.
std::vector<ComparedValue> CompareWithTensors(const NetToCompare& net, const NamedTensors& expected,
                                              const Tolerance& tolerance);

// Compares two lists of tensors by their names, in the order of the first. REQUIRES: the names in
// each list are distinct.
std::vector<ComparedValue> CompareTensorLists(const NamedTensors& first, const NamedTensors& second,
                                              const Tolerance& tolerance);

}  // namespace caffe2rt
#pragma GCC visibility pop
