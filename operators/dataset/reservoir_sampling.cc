// ReservoirSampling: keeps a random sample of all rows (algorithm R; Vitter, Random Sampling with a
// Reservoir). After v rows, each is in the reservoir with the probability num_to_collect / v.
//   reservoir [M, ...], num_visited int64, data [B, ...], mutex
//   (, object ids int64 [B], map from object ids to rows, object ids of the rows int64 [M])
//   ->  reservoir, num_visited (, map, object ids of the rows), in place
// With ids, a row whose object is in the reservoir is not visited.
#include <algorithm>
#include <memory>
#include <mutex>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/copy_rows.h"
#include "operators/common/element_type.h"
#include "operators/common/inference.h"
#include "operators/primitives/random.h"

namespace caffe2rt {
namespace {

constexpr ArgumentSpec<int> kReservoirRows{"num_to_collect",
                                           -1,
                                           "the most rows of the reservoir; must be given, above 0",
                                           {[](int rows) { return rows > 0; }, "above 0"},
                                           true};
// What CreateMap makes with keys of int64 and values of int32.
using RowOfObject = std::unordered_map<int64_t, int32_t>;
constexpr float kReservoirGrowthPercent = 40;

class ReservoirSamplingOp final : public Operator<CPUContext> {
 public:
  ReservoirSamplingOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), limit_(ReadArgument(kReservoirRows)) {}

  bool RunOnDevice() override {
    const auto& mutex = OperatorBase::Input<std::unique_ptr<std::mutex>>(3);
    CAFFE_ENFORCE(mutex != nullptr, "input 3 (MUTEX) holds no mutex");
    const std::lock_guard lock(*mutex);
    // An empty reservoir starts a new sample.
    begun_ = Input(0).numel() > 0;
    Check();
    const Tensor& data = Input(2);
    Tensor* const reservoir = Output(0);
    int64_t* const visited = Output(1)->mutable_data<int64_t>();
    if (!begun_) *visited = 0;
    const int64_t before = begun_ ? reservoir->dim(0) : 0;
    rows_ = before;
    Draw(visited);
    Reserve(data, before, reservoir);
    const int64_t block = data.size_from_dim(1);
    if (block == 0) return true;
    for (const auto& [from, to] : drawn_) {
      CopyRow(context_, data.dtype(), block, ItemAt(data.raw_data(), data.dtype(), from * block),
              ItemAt(reservoir->raw_mutable_data(data.dtype()), data.dtype(), to * block));
    }
    return true;
  }

 private:
  bool has_ids() const { return InputSize() == 7; }

  // Makes all checks, which come before the first change.
  void Check() {
    const Tensor& data = Input(2);
    CAFFE_ENFORCE_GE(data.dim(), 1, "rank of input 2 (DATA)");
    CAFFE_ENFORCE_EQ(Input(1).numel(), 1, "elements of input 1 (NUM_VISITED)");
    RequireElements<int64_t>(Input(1));
    if (has_ids()) {
      CAFFE_ENFORCE(Input(4).dim() == 1 && Input(4).dim(0) == data.dim(0),
                    "input 4 (OBJECT_ID) has shape ", Input(4).sizes(), ", want [", data.dim(0),
                    "], one for each row of input 2 (DATA)");
      RequireElements<int64_t>(Input(4));
      (void)OperatorBase::Input<RowOfObject>(5);  // THROWS for another object
    }
    if (begun_) CheckReservoir();
    if (data.numel() > 0) (void)data.raw_data();  // THROWS without data
  }
  void CheckReservoir() {
    const Tensor& data = Input(2);
    const Tensor& reservoir = Input(0);
    CAFFE_ENFORCE(reservoir.dtype() == data.dtype(), "input 2 (DATA) has elements of type ",
                  data.dtype().name(), ", want that of the reservoir, ", reservoir.dtype().name());
    bool fits = reservoir.dim() == data.dim();
    for (int d = 1; fits && d < data.dim(); ++d) fits = reservoir.dim(d) == data.dim(d);
    CAFFE_ENFORCE(fits, "input 2 (DATA) has shape ", data.sizes(), ", want that of the reservoir, ",
                  reservoir.sizes(), ", except in dimension 0");
    const int64_t visited = Input(1).data<int64_t>()[0];
    const int64_t rows = std::min<int64_t>(visited, limit_);
    CAFFE_ENFORCE_EQ(reservoir.dim(0), rows, "rows of input 0 (RESERVOIR) after ", visited,
                     " visited rows, with num_to_collect ", limit_);
    (void)CheckedAdd(visited, data.dim(0));
    if (!has_ids()) return;
    RequireElements<int64_t>(Input(6));
    CAFFE_ENFORCE_EQ(Input(6).numel(), reservoir.dim(0),
                     "elements of input 6 (POS_TO_OBJECT_IN), want one for each row of the "
                     "reservoir");
  }

  // Draws the places of the new rows, and keeps the books of their objects.
  void Draw(int64_t* visited) {
    drawn_.clear();
    const int64_t* const ids = has_ids() ? Input(4).data<int64_t>() : nullptr;
    RowOfObject* const rows = has_ids() ? OperatorBase::Output<RowOfObject>(2) : nullptr;
    if (rows != nullptr) {
      if (!begun_) rows->clear();
      objects_.assign(begun_ ? Input(6).data<int64_t>() : nullptr,
                      begun_ ? Input(6).data<int64_t>() + rows_ : nullptr);
    }
    for (int64_t i = 0; i < Input(2).dim(0); ++i) {
      if (rows != nullptr && rows->contains(ids[i])) continue;
      const int64_t place =
          *visited < limit_ ? *visited
                            : static_cast<int64_t>(math::UniformBelow(
                                  context_.RandGenerator(), static_cast<uint64_t>(*visited) + 1));
      ++*visited;
      if (place >= limit_) continue;
      drawn_.emplace_back(i, place);
      rows_ = std::max(rows_, place + 1);
      if (rows == nullptr) continue;
      if (place < static_cast<int64_t>(objects_.size())) {
        rows->erase(objects_[static_cast<size_t>(place)]);
      } else {
        objects_.emplace_back();
      }
      objects_[static_cast<size_t>(place)] = ids[i];
      (*rows)[ids[i]] = static_cast<int32_t>(place);
    }
    if (rows == nullptr) return;
    int64_t* const objects = OutputData<int64_t>(3, {static_cast<int64_t>(objects_.size())});
    std::copy(objects_.begin(), objects_.end(), objects);
  }

  // Makes place for rows_ rows, of which there are `before`.
  void Reserve(const Tensor& data, int64_t before, Tensor* reservoir) {
    if (begun_) {
      if (rows_ > before) reservoir->Extend(rows_ - before, kReservoirGrowthPercent, &context_);
      return;
    }
    std::vector<int64_t> dims = data.dims();
    dims[0] = rows_;
    reservoir->Resize(dims);
    if (data.dtype().IsSet()) reservoir->raw_mutable_data(data.dtype());
  }

  const int limit_;
  bool begun_ = false;
  int64_t rows_ = 0;                                // of the reservoir after the run
  std::vector<std::pair<int64_t, int64_t>> drawn_;  // rows of the data, and their places
  std::vector<int64_t> objects_;                    // of the rows of the reservoir
};

// The shape after a run; where the reservoir is not known, that of a full one, which it soon has
// for good. Objects may repeat, so with ids the rows are known only if the reservoir is full.
std::vector<TensorShape> InferReservoir(const OperatorDef& def,
                                        const std::vector<TensorShape>& in) {
  std::vector<TensorShape> out = UnknownOutputs(def);
  if (in.size() < 4) return out;
  if (IsKnown(in[1])) out[1] = in[1];
  if (out.size() > 3) out[3] = UnknownShapeOf(TensorProto::INT64);
  if (!IsKnown(in[2]) || in[2].dims_size() < 1) return out;
  const int64_t limit = ArgumentHelper(def).Read(kReservoirRows);
  std::vector<int64_t> dims = GetDimsVector(in[2]);
  const int64_t added = std::min(limit, dims[0]);
  const bool begun = IsKnown(in[0]) && in[0].dims_size() > 0 && NumElements(in[0]) > 0;
  dims[0] = limit;
  if (IsKnown(in[0])) dims[0] = std::min(limit, added + (begun ? in[0].dims(0) : 0));
  if (out.size() > 2 && !(begun && in[0].dims(0) >= limit)) {
    out[0] = UnknownShapeOf(in[2].data_type());
    return out;
  }
  out[0] = CreateTensorShape(dims, in[2].data_type());
  return out;
}

}  // namespace

void RegisterReservoirSampling() {
  RegisterSchema("ReservoirSampling", __FILE__)
      .NumInputs(std::set<int>{4, 7})
      .NumOutputs(std::set<int>{2, 4})
      .NumInputsOutputs([](int inputs, int outputs) { return (inputs == 7) == (outputs == 4); })
      .EnforceInplace({{0, 0}, {1, 1}, {5, 2}, {6, 3}})
      .Arg(kReservoirRows)
      .Input(0, "RESERVOIR", "[M, ...], M at most num_to_collect; empty at first")
      .Input(1, "NUM_VISITED", "int64, one element: the rows so far; 0 at first")
      .Input(2, "DATA", "[B, ...], elements of any type: the new rows")
      .Input(3, "MUTEX", "a mutex from CreateMutex that guards the others")
      .Input(4, "OBJECT_ID", "(optional) [B] int64: the objects of the new rows")
      .Input(5, "OBJECT_TO_POS_MAP_IN",
             "(optional) a map from CreateMap with keys of int64 and values of int32: where the "
             "objects are in the reservoir")
      .Input(6, "POS_TO_OBJECT_IN", "(optional) int64, M elements: the objects of the reservoir")
      .Output(0, "RESERVOIR", "input 0, in place: at most num_to_collect rows")
      .Output(1, "NUM_VISITED", "input 1, in place")
      .Output(2, "OBJECT_TO_POS_MAP", "(optional) input 5, in place")
      .Output(3, "POS_TO_OBJECT", "(optional) input 6, in place")
      .TypesOfInput(1, {.accepted = {TensorProto::INT64}})
      .TypesOfInput(4, {.accepted = {TensorProto::INT64}})
      .TypesOfInput(6, {.accepted = {TensorProto::INT64}})
      .SynchronizedInputs({3})
      .SynchronizedOutputs({0, 1, 2, 3})
      .HasEffect(Effect::kRandom)
      .TensorInferenceFunction(InferReservoir)
      .SetDoc(
          "Keeps a random sample of num_to_collect rows of all data while it holds a mutex: each "
          "row is in the sample with the same probability. With object ids, each object is in it "
          "at most once. An empty reservoir starts a new sample.");
  RegisterCpuOperator<ReservoirSamplingOp>("ReservoirSampling", __FILE__);
  // Rows are collected, not computed.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("ReservoirSampling", __FILE__);
}

}  // namespace caffe2rt
