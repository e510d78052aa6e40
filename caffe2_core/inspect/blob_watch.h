#pragma once
// BlobWatch: calls a function with each blob that an operator of a net has just written, so that
// the values are seen before a later operator overwrites them.
//
//   const NetDef def = NetToWatch(net_def);
//   NetBase* net = ws.CreateNet(def);
//   BlobWatch watch(def, net, [](const BlobWrite& write) {
//     std::cout << write.position << ": " << write.name << "\n";
//   });
//   net->Run();

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "caffe2_core/runtime/net.h"
#include "caffe2_core/tensor/blob.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

struct BlobWrite {
  int position;             // of the operator, in the def that was passed to BlobWatch
  const OperatorDef& op;    // the operator at that position
  const std::string& name;  // of the blob
  const Blob& blob;         // on its device, on which the operator has finished
};

// Returns the net with the type `simple` and without device graphs, so that its operators run in the
// order of the net and call their observers, and with new marks (graph/passes/user_operators.h), by which BlobWatch finds the positions also if
// copies between devices are inserted.
NetDef NetToWatch(NetDef net);

// Not thread safe. An exception that the callback throws ends the run, as if the operator had
// thrown it.
class BlobWatch {
 public:
  using Callback = std::function<void(const BlobWrite&)>;
  // The callback is called on the thread that runs the net. REQUIRES: `def` is a result of
  // NetToWatch, and `net` was created from it; both outlive this object. THROWS if `net` is null or
  // `callback` is empty.
  BlobWatch(const NetDef& def, NetBase* net, Callback callback);
  BlobWatch(const NetDef&& def, NetBase* net, Callback callback) = delete;
  ~BlobWatch();  // ends the calls
  BlobWatch(const BlobWatch&) = delete;
  BlobWatch& operator=(const BlobWatch&) = delete;

 private:
  std::vector<std::pair<OperatorBase*, const ObserverBase<OperatorBase>*>> observers_;
};

// Copies the tensor, quantized tensor or string of a blob to a blob on the CPU, for a callback that
// keeps values. Returns false, and empties `to`, for an object of another type and for a tensor
// without data.
bool CopyBlobToCpu(const Blob& from, Blob* to);

// A short name of an operator for messages: `Conv "c1"`, or `Conv` if it has no name.
std::string OperatorText(const OperatorDef& op);

}  // namespace caffe2rt
#pragma GCC visibility pop
