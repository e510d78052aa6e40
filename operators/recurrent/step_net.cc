#include "operators/recurrent/step_net.h"

#include <algorithm>
#include <unordered_set>

#include "caffe2_core/base/thread_state.h"
#include "caffe2_core/graph/nested_nets.h"
#include "caffe2_core/runtime/net_operators.h"
#include "caffe2_core/runtime/waiting.h"

namespace caffe2rt {

namespace {

// Step nets may contain RecurrentNetwork operators. Counts those that the thread is running.
class NestedRun {
 public:
  NestedRun() {
    int& depth = t_thread_state.nested_step_nets;
    CAFFE_ENFORCE_LT(depth, kMaxNetDepth, "nesting depth of step nets");
    if (depth > 0) CheckStackForNestedRun();
    ++depth;
  }
  ~NestedRun() { --t_thread_state.nested_step_nets; }
  NestedRun(const NestedRun&) = delete;
  NestedRun& operator=(const NestedRun&) = delete;
};

// The blobs that the operator provides count as inputs of the net.
std::shared_ptr<const NetDef> WithInputs(NetDef net, const std::vector<StepLink>& links,
                                         const std::string& timestep) {
  if (net.external_input_size() > 0) {
    for (const StepLink& link : links) net.add_external_input(link.internal);
    net.add_external_input(timestep);
  }
  return std::make_shared<const NetDef>(std::move(net));
}

// The operators of the net, or none if one of them needs a wait: they run in order on one stream if
// all are on one device of an asynchronous type.
std::vector<OperatorBase*> OperatorsOnStream(const NetBase& net, DeviceType device) {
  std::vector<OperatorBase*> operators = net.GetOperators();
  for (const OperatorBase* op : operators) {
    if (device == CPU || op->device_option().device_type() != device || !op->HasAsyncPart() ||
        op->device_option().device_id() != operators[0]->device_option().device_id()) {
      return {};
    }
  }
  return operators;
}

}  // namespace

Tensor ViewOfRows(const Tensor& rows, int64_t first, int64_t count) {
  CAFFE_ENFORCE(rows.dim() >= 1 && first >= 0 && count >= 0 && count <= rows.dim(0) - first,
                "rows ", first, " to ", first + count, " of a tensor of shape ", rows.sizes(),
                " do not exist");
  std::vector<int64_t> dims = rows.dims();
  dims[0] = count;
  Tensor view(rows.GetDeviceType());
  view.Resize(dims);
  if (view.numel() == 0) {
    view.raw_mutable_data(rows.dtype());
    return view;
  }
  CAFFE_ENFORCE(rows.dtype().IsPlainData(), "elements of type ", rows.dtype().name(),
                " cannot be linked, want numbers");
  CAFFE_ENFORCE(rows.storage() != nullptr && rows.storage()->capacity_bytes() >= rows.nbytes(),
                "a tensor of shape ", rows.sizes(), " has no memory that could be linked");
  const size_t row_bytes = rows.nbytes() / static_cast<size_t>(rows.dim(0));
  // The rows stay alive as long as the view. Writes through it do not move their version.
  const std::shared_ptr<Storage> storage = rows.storage();
  storage->set_exposed();
  storage->RestoreData();
  view.ShareExternalPointer(
      static_cast<char*>(storage->data()) + row_bytes * static_cast<size_t>(first), rows.dtype(),
      row_bytes * static_cast<size_t>(count), [storage](void*) {});
  if (storage->read_only()) view.MarkReadOnly();
  return view;
}

const Tensor& RowsView::Of(const Tensor& rows, int64_t first, int64_t count) {
  if (storage_ != nullptr && rows.storage() == storage_ && rows.dims() == dims_ &&
      first == first_ && count == count_) {
    return view_;
  }
  storage_.reset();
  view_ = ViewOfRows(rows, first, count);
  storage_ = rows.storage();
  dims_ = rows.dims();
  first_ = first;
  count_ = count;
  return view_;
}

bool RowViews::Make(const StepLink& link, const Tensor& rows, int64_t count) {
  if (storage_ != nullptr && rows.storage() == storage_ && rows.dims() == dims_ &&
      rows.dtype() == type_ && static_cast<int64_t>(views_.size()) == count) {
    return false;
  }
  CAFFE_ENFORCE(rows.dim() >= 1 && rows.numel() > 0 && rows.storage() != nullptr, "blob \"",
                link.external, "\" of shape ", rows.sizes(),
                " has no elements that could be linked to \"", link.internal, "\"");
  const int64_t last = CheckedAdd<int64_t>(count - 1, int64_t{link.offset} + link.window);
  CAFFE_ENFORCE_LE(last, rows.dim(0), "end of the rows of blob \"", link.external, "\" of shape ",
                   rows.sizes(), " that are linked to \"", link.internal, "\" at time step ",
                   count - 1, " with offset ", link.offset, " and window ", link.window);
  views_.clear();
  storage_.reset();
  views_.reserve(static_cast<size_t>(count));
  for (int64_t t = 0; t < count; ++t) {
    views_.push_back(ViewOfRows(rows, t + link.offset, link.window));
  }
  storage_ = rows.storage();
  dims_ = rows.dims();
  type_ = rows.dtype();
  return true;
}

StepNet::StepNet(NetDef net, std::vector<StepLink> links, std::string timestep,
                 std::vector<std::string> results, DeviceType device, RandomPlace* random)
    : net_(WithInputs(std::move(net), links, timestep)),
      links_(std::move(links)),
      timestep_(std::move(timestep)),
      result_names_(std::move(results)),
      device_(device),
      random_(random),
      views_(links_.size()) {
  std::unordered_set<std::string> written, linked = {timestep_};
  for (const OperatorDef& op : net_->op()) written.insert(op.output().begin(), op.output().end());
  for (const StepLink& link : links_) {
    CAFFE_ENFORCE(linked.insert(link.internal).second, "blob \"", link.internal,
                  "\" of the step net has two links, want one");
    is_written_.push_back(written.contains(link.internal));
  }
}

void StepNet::Prepare(const std::shared_ptr<StepWorkspaces>& spaces, int64_t steps) {
  if (spaces != spaces_) {
    steps_.clear();
    rows_.clear();
    spaces_ = spaces;
  }
  if (rows_.empty()) {
    std::vector<std::shared_ptr<Blob>> rows;
    for (const StepLink& link : links_) {
      rows.push_back(spaces_->parent()->FindBlob(link.external));
      CAFFE_ENFORCE(rows.back() != nullptr, "blob \"", link.external, "\", which is linked to \"",
                    link.internal, "\", does not exist");
    }
    rows_ = std::move(rows);
  }
  if (steps_.size() < spaces_->size()) steps_.resize(spaces_->size());
  if (steps == 0) return;
  for (size_t i = 0; i < links_.size(); ++i) {
    CAFFE_ENFORCE(rows_[i]->IsTensor(device_), "blob \"", links_[i].external,
                  "\", which is linked to \"", links_[i].internal, "\", is not a tensor on ",
                  DeviceTypeName(device_));
    if (!views_[i].Make(links_[i], rows_[i]->Get<Tensor>(), steps)) continue;
    // Workspaces that are not used any more must not keep old rows alive.
    for (size_t space = static_cast<size_t>(steps); space < steps_.size(); ++space) {
      if (steps_[space].net == nullptr) continue;
      steps_[space].linked[i]->GetMutableTensor(device_)->FreeMemory();
    }
  }
}

void StepNet::Create(size_t space, int64_t t) {
  Workspace& ws = (*spaces_)[space];
  Step step;
  for (const StepLink& link : links_) {
    ws.CreateLocalBlob(link.internal);
    step.linked.push_back(ws.FindBlob(link.internal));
  }
  Tensor* const time = ws.CreateLocalBlob(timestep_)->GetMutableTensor(CPU);
  time->Resize(1);
  *time->mutable_data<int32_t>() = static_cast<int32_t>(t);
  step.time = ws.FindBlob(timestep_);
  SetInputs(step, t);
  step.net = CreateNet(net_, &ws);
  CAFFE_ENFORCE(step.net != nullptr, "the step net \"", net_->name(), "\" has type \"",
                net_->type(), "\", which is not known");
  step.net->SetRandomParent(random_);
  step.on_stream = OperatorsOnStream(*step.net, device_);
  for (const std::string& name : result_names_) {
    step.results.push_back(ws.FindBlob(name));
    CAFFE_ENFORCE(step.results.back() != nullptr, "the step net \"", net_->name(),
                  "\" does not write blob \"", name, "\"");
  }
  steps_[space] = std::move(step);
}

void StepNet::SetInputs(Step& step, int64_t t) {
  Tensor* const time = step.time->GetMutableTensor(CPU);
  // Operators on a device copy an input only if it has been written.
  if (time->numel() != 1 || *time->data<int32_t>() != t) {
    time->Resize(1);
    *time->mutable_data<int32_t>() = static_cast<int32_t>(t);
  }
  for (size_t i = 0; i < links_.size(); ++i) {
    *step.linked[i]->GetMutableTensor(device_) = views_[i][static_cast<size_t>(t)];
  }
}

void StepNet::SetObservers(const std::vector<std::unique_ptr<Observer>>& observers) {
  const auto is_same = [](const std::unique_ptr<Observer>& a, const Observer* b) {
    return a.get() == b;
  };
  if (std::equal(observers.begin(), observers.end(), observers_.begin(), observers_.end(),
                 is_same)) {
    return;
  }
  observers_.clear();
  for (const std::unique_ptr<Observer>& observer : observers) observers_.push_back(observer.get());
  ++observers_version_;
}

void StepNet::CopyObservers(Step& step, int64_t t) {
  for (const auto& [op, copy] : step.copies) op->DetachObserver(copy);
  step.copies.clear();
  for (OperatorBase* op : step.net->GetOperators()) {
    for (const Observer* observer : observers_) {
      std::unique_ptr<Observer> copy = observer->rnnCopy(op, static_cast<int>(t));
      if (copy != nullptr) step.copies.emplace_back(op, op->AttachObserver(std::move(copy)));
    }
  }
  step.observers = observers_version_;
}

void StepNet::RunNet(Step& step) {
  if (step.on_stream.empty() || step.net->NumObservers() > 0) {
    CAFFE_ENFORCE(step.net->Run(), "the step net reports a failure");
    return;
  }
  step.net->BeginRandomNumbers();
  size_t running = 0;
  try {
    for (; running < step.on_stream.size(); ++running) StartOperator(step.on_stream[running], 0);
  } catch (...) {
    RethrowWithFrame(MakeString("net \"", net_->name(), "\", operator ", running, " (",
                                step.on_stream[running]->Describe(), ")"));
  }
}

void StepNet::StoreRows(Step& step, int64_t t) {
  for (size_t i = 0; i < links_.size(); ++i) {
    if (!is_written_[i]) continue;
    const Tensor& view = views_[i][static_cast<size_t>(t)];
    CAFFE_ENFORCE(step.linked[i]->IsTensor(device_), "blob \"", links_[i].internal,
                  "\" of the step net is not a tensor on ", DeviceTypeName(device_),
                  " any more, want rows of blob \"", links_[i].external, "\"");
    const Tensor& got = step.linked[i]->Get<Tensor>();
    CAFFE_ENFORCE(got.numel() == view.numel() && got.dtype() == view.dtype(), "blob \"",
                  links_[i].internal, "\" of the step net has shape ", got.sizes(), " and type ",
                  got.dtype().name(), ", want shape ", view.sizes(), " and type ",
                  view.dtype().name(), ", as the rows of blob \"", links_[i].external, "\"");
    if (got.storage() == view.storage()) continue;
    // An operator has replaced the memory of the blob, for example by that of its input.
    for (OperatorBase* op : step.on_stream) op->FinishDevice();
    Tensor rows = view;
    rows.CopyFrom(got);
  }
}

void StepNet::Run(size_t space, int64_t t) {
  ThrowIfStopped();
  const NestedRun nested;
  try {
    Step& step = steps_.at(space);
    if (step.net == nullptr) {
      Create(space, t);
    } else {
      SetInputs(step, t);
    }
    if (step.observers != observers_version_) CopyObservers(step, t);
    RunNet(step);
    StoreRows(step, t);
  } catch (...) {
    RethrowWithFrame(MakeString("time step ", t));
  }
}

const Tensor& StepNet::Result(size_t space, size_t i, int64_t floats) const {
  const Blob& blob = *steps_.at(space).results.at(i);
  CAFFE_ENFORCE(blob.IsTensor(device_), "blob \"", result_names_.at(i),
                "\" of the step net is not a tensor on ", DeviceTypeName(device_));
  const Tensor& tensor = blob.Get<Tensor>();
  CAFFE_ENFORCE(tensor.IsType<float>() && tensor.numel() == floats, "blob \"", result_names_.at(i),
                "\" of the step net has shape ", tensor.sizes(), " and type ",
                tensor.dtype().name(), ", want ", floats, " floats");
  return tensor;
}

}  // namespace caffe2rt
