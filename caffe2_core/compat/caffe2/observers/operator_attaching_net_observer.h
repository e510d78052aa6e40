#pragma once
// OperatorAttachingNetObserver: a base class of net observers that also observe each operator.
#include <memory>
#include <vector>

#include "caffe2/core/net.h"
#include "caffe2/core/observer.h"
#include "caffe2/core/operator.h"

namespace caffe2 {

// Attaches an OpObserver, constructed from the operator and `net_observer`, to each operator. The
// operators own these observers.
template <class OpObserver, class NetObserverClass>
class OperatorAttachingNetObserver : public ObserverBase<NetBase> {
 public:
  OperatorAttachingNetObserver(NetBase* subject, NetObserverClass* net_observer)
      : ObserverBase<NetBase>(subject) {
    for (OperatorBase* op : subject->GetOperators()) {
      auto observer = std::make_unique<OpObserver>(op, net_observer);
      operator_observers_.push_back(observer.get());
      op->AttachObserver(std::move(observer));
    }
  }

 protected:
  std::vector<const OpObserver*> operator_observers_;
};

}  // namespace caffe2
