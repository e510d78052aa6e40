// PackRecords, UnPackRecords: records of a dataset (tree_cursor.h) as elements of a tensor.
//
//   PackRecords     fields                       ->  packed [records]; or [1], see below
//   UnPackRecords   packed, prototypes (optional) ->  fields
//
// An element of `packed` is a list of tensors, one for each field, with the rows of one record.
// With pack_to_single_shared_ptr the only element is a list of all records. Records that were
// packed can be gathered and joined, and are unpacked in their new order. Without records, the
// types and shapes of the fields come from the prototypes.
#include <climits>
#include <memory>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/dataset/tree_cursor.h"

namespace caffe2rt {
namespace {

constexpr ArgumentSpec<bool> kPackToSingle{"pack_to_single_shared_ptr", false,
                                           "return one element that contains all records"};

// Records are shared by all tensors that they were copied to, and never change.
using PackedRecord = std::vector<Tensor>;
using SharedTensorVectorPtr = std::shared_ptr<PackedRecord>;
using Shared2DTensorVectorPtr = std::shared_ptr<std::vector<PackedRecord>>;

class PackRecordsOp final : public Operator<CPUContext> {
 public:
  PackRecordsOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws),
        fields_(ReadArgument(kDatasetFields)),
        to_single_(ReadArgument(kPackToSingle)) {}

  bool RunOnDevice() override {
    CAFFE_ENFORCE_EQ(static_cast<size_t>(InputSize()), fields_.size(),
                     "inputs, want one for each "
                     "name in argument \"",
                     kDatasetFields.name, "\"");
    rows_.Bind(fields_, *this, 0, /*scalars=*/true);
    const int64_t records = rows_.rows(0);
    ends_.assign(fields_.num_domains(), 0);
    if (to_single_) {
      auto all = std::make_shared<std::vector<PackedRecord>>(static_cast<size_t>(records));
      for (PackedRecord& record : *all) PackNext(&record);
      *OutputData<Shared2DTensorVectorPtr>(0, {1}) = std::move(all);
      return true;
    }
    auto* const packed = OutputData<SharedTensorVectorPtr>(0, {records});
    for (int64_t i = 0; i < records; ++i) {
      packed[i] = std::make_shared<PackedRecord>();
      PackNext(packed[i].get());
    }
    return true;
  }

 private:
  void PackNext(PackedRecord* record) {
    begins_ = ends_;
    rows_.Advance(1, &ends_, &counts_);
    for (size_t i = 0; i < fields_.size(); ++i) {
      const size_t domain = fields_.domain(i);
      Tensor& rows = record->emplace_back(CPU);
      rows_.CopyRows(i, begins_[domain], counts_[domain], &context_, &rows);
    }
  }

  const DatasetFields fields_;
  const bool to_single_;
  DatasetRows rows_;
  DatasetOffsets begins_, ends_;
  std::vector<int64_t> counts_;
};

class UnPackRecordsOp final : public Operator<CPUContext> {
 public:
  UnPackRecordsOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), fields_(ReadArgument(kDatasetFields)) {}

  bool RunOnDevice() override {
    if (!FindRecords(Input(0))) {  // a tensor that is not packed is its only field
      CAFFE_ENFORCE_EQ(OutputSize(), 1, "outputs, want one, because input 0 is not packed");
      Output(0)->CopyFrom(Input(0), &context_);
      return true;
    }
    CAFFE_ENFORCE_EQ(static_cast<size_t>(OutputSize()), fields_.size(),
                     "outputs, want one for each "
                     "name in argument \"",
                     kDatasetFields.name, "\"");
    CAFFE_ENFORCE(InputSize() == 1 || InputSize() == OutputSize() + 1, "inputs are ", InputSize(),
                  ", want 1, or ", OutputSize() + 1, " with one prototype for each output");
    CAFFE_ENFORCE(!records_.empty() || InputSize() > 1,
                  "input 0 (packed) has no records, and there are no prototypes, from which the "
                  "types and shapes of the outputs would come");
    for (size_t i = 0; i < records_.size(); ++i) {
      CAFFE_ENFORCE_EQ(records_[i]->size(), fields_.size(), "fields of record ", i,
                       ", want as many as argument \"", kDatasetFields.name, "\" names");
    }
    for (int i = 0; i < OutputSize(); ++i) UnPackField(i);
    return true;
  }

 private:
  // Sets records_. Returns false if the tensor is not packed.
  bool FindRecords(const Tensor& packed) {
    records_.clear();
    if (packed.IsType<SharedTensorVectorPtr>()) {
      const auto* const elements = packed.data<SharedTensorVectorPtr>();
      for (int64_t i = 0; i < packed.numel(); ++i) {
        CAFFE_ENFORCE(elements[i] != nullptr, "element ", i, " of input 0 (packed) has no record");
        records_.push_back(elements[i].get());
      }
      return true;
    }
    if (!packed.IsType<Shared2DTensorVectorPtr>()) return false;
    CAFFE_ENFORCE_EQ(packed.numel(), 1, "elements of input 0 (packed)");
    const auto& all = *packed.data<Shared2DTensorVectorPtr>();
    CAFFE_ENFORCE(all != nullptr, "element 0 of input 0 (packed) has no records");
    for (const PackedRecord& record : *all) records_.push_back(&record);
    return true;
  }

  void UnPackField(int i) {
    const size_t field = static_cast<size_t>(i);
    const Tensor& like = InputSize() > 1 ? Input(i + 1) : (*records_[0])[field];
    CAFFE_ENFORCE_GT(like.dim(), 0, "dimensions of field \"", fields_.name(field), "\"");
    int64_t rows = 0;
    for (size_t r = 0; r < records_.size(); ++r) {
      const Tensor& part = (*records_[r])[field];
      CheckLike(part, like, r, field);
      rows = CheckedAdd(rows, part.dim(0));
    }
    std::vector<int64_t> dims = like.dims();
    dims[0] = rows;
    Tensor* const out = Output(i);
    out->Resize(dims);
    if (!like.dtype().IsSet()) return;
    char* to = static_cast<char*>(out->raw_mutable_data(like.dtype()));
    for (const PackedRecord* record : records_) {
      const Tensor& part = (*record)[field];
      if (part.numel() == 0) continue;
      context_.CopyItemsSameDevice(part.dtype(), static_cast<size_t>(part.numel()), part.raw_data(),
                                   to);
      to += part.nbytes();
    }
  }

  void CheckLike(const Tensor& part, const Tensor& like, size_t record, size_t field) const {
    bool fits = part.dtype() == like.dtype() && part.dim() == like.dim();
    for (int d = 1; fits && d < like.dim(); ++d) fits = part.dim(d) == like.dim(d);
    CAFFE_ENFORCE(fits, "field \"", fields_.name(field), "\" of record ", record, " is ",
                  part.dtype().name(), " ", part.sizes(), ", want ", like.dtype().name(), " ",
                  like.sizes(), " except in dimension 0, as in ",
                  InputSize() > 1 ? "its prototype" : "the first record");
  }

  const DatasetFields fields_;
  std::vector<const PackedRecord*> records_;  // of the current run
};

}  // namespace

void RegisterPackRecords() {
  RegisterSchema("PackRecords", __FILE__)
      .NumInputs(1, INT_MAX)
      .NumOutputs(1)
      .Args(kDatasetFields, kPackToSingle)
      .Input(0, "field_0, field_1, ...", "the dataset: one tensor for each name in fields")
      .Output(0, "packed", "[records], or [1] with pack_to_single_shared_ptr")
      .SetDoc("Packs each record of a dataset into one element of a tensor.");
  RegisterCpuOperator<PackRecordsOp>("PackRecords", __FILE__);
  // The elements of the output are not numbers.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("PackRecords", __FILE__);

  RegisterSchema("UnPackRecords", __FILE__)
      .NumInputs(1, INT_MAX)
      .NumOutputs(1, INT_MAX)
      .Arg(kDatasetFields)
      .Input(0, "packed", "records from PackRecords")
      .Input(1, "prototype_0, prototype_1, ...",
             "tensors with the types and shapes of the fields; only needed without records")
      .Output(0, "field_0, field_1, ...", "the fields of all records")
      .SetDoc("Unpacks records that PackRecords packed.");
  RegisterCpuOperator<UnPackRecordsOp>("UnPackRecords", __FILE__);
  // The elements of the input are not numbers.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("UnPackRecords", __FILE__);
}

}  // namespace caffe2rt
