// SparseToDenseMask: turns lists of (id, value) into rows of a dense tensor, with a column for each
// id of the argument mask.
//   indices [n] int32 or int64, values [n, block..], default_value [block..], lengths [rows] int32
//     -> output [rows, columns, block..], presence_mask [rows, columns] bool (return_presence_mask)
// Without lengths there is one row, and outputs have no dimension for rows. A column whose id is not
// in the row gets default_value; if an id is there several times, its last value counts. Ids outside
// the mask are ignored. Invalid ids, below 0 or the largest number of their type, are skipped, too,
// but only max_skipped_indices - 1 of them in all runs of the operator.
//
// SparseToDenseMaskGradient: indices, gradient of output, lengths  ->  gradient of values
#include <algorithm>
#include <cstdint>
#include <limits>
#include <unordered_map>
#include <vector>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"

namespace caffe2rt {
namespace {

constexpr RepeatedArgumentSpec<int64_t> kDenseMask{"mask",
                                                   "the ids of the columns, all different",
                                                   {[](const std::vector<int64_t>& ids) {
                                                      return std::ranges::all_of(
                                                          ids, [](int64_t id) { return id >= 0; });
                                                    },
                                                    "ids of at least 0"}};
constexpr ArgumentSpec<bool> kReturnPresenceMask{"return_presence_mask", false,
                                                 "also return which columns have a value"};
constexpr ArgumentSpec<int> kMaxSkippedIndices{"max_skipped_indices", 50,
                                               "fail when so many invalid ids were skipped"};

class SparseMaskOp : public Operator<CPUContext> {
 public:
  SparseMaskOp(const OperatorDef& def, Workspace* ws) : Operator<CPUContext>(def, ws) {
    const std::vector<int64_t> ids = ReadArgument(kDenseMask);
    CAFFE_ENFORCE(!ids.empty(), "argument \"", kDenseMask.name, "\" is empty, want ids");
    for (const int64_t id : ids) {
      const bool is_new = column_of_.emplace(id, static_cast<int64_t>(column_of_.size())).second;
      CAFFE_ENFORCE(is_new, "argument \"", kDenseMask.name, "\" has ", id,
                    " twice, want different ids");
    }
  }

 protected:
  int64_t columns() const { return static_cast<int64_t>(column_of_.size()); }
  // The column of an id, or -1.
  int64_t ColumnOf(int64_t id) const {
    const auto found = column_of_.find(id);
    return found == column_of_.end() ? -1 : found->second;
  }
  // The number of ids of each row. THROWS if they are not `count` in all.
  std::vector<int64_t> RowLengths(int input, int64_t count) const {
    if (InputSize() <= input) return {count};
    const Tensor& lengths = Input(input);
    CAFFE_ENFORCE_EQ(lengths.dim(), 1, "rank of input ", input, " (lengths)");
    const int32_t* const length = lengths.data<int32_t>();
    std::vector<int64_t> rows(length, length + lengths.numel());
    int64_t sum = 0;
    for (const int64_t row : rows) {
      CAFFE_ENFORCE_GE(row, 0, "an element of input ", input, " (lengths), want at least 0");
      sum += row;
    }
    CAFFE_ENFORCE_EQ(sum, count, "sum of input ", input,
                     " (lengths), want the elements of input 0 ", "(indices)");
    return rows;
  }
  std::vector<int64_t> OutputDims(size_t rows, int lengths_input) const {
    if (InputSize() <= lengths_input) return {columns()};
    return {static_cast<int64_t>(rows), columns()};
  }

 private:
  std::unordered_map<int64_t, int64_t> column_of_;
};

const Tensor& CheckedIds(const Tensor& indices) {
  CAFFE_ENFORCE_EQ(indices.dim(), 1, "rank of input 0 (indices) of shape ", indices.sizes());
  CAFFE_ENFORCE(indices.IsType<int32_t>() || indices.IsType<int64_t>(),
                "input 0 (indices) has elements of type ", indices.dtype().name(),
                ", want int32 or int64");
  return indices;
}

class SparseToDenseMaskOp final : public SparseMaskOp {
 public:
  SparseToDenseMaskOp(const OperatorDef& def, Workspace* ws)
      : SparseMaskOp(def, ws),
        with_presence_(ReadArgument(kReturnPresenceMask)),
        most_skipped_(ReadArgument(kMaxSkippedIndices)) {
    CAFFE_ENFORCE_GE(OutputSize(), with_presence_ ? 2 : 1, "outputs, want 2 with argument \"",
                     kReturnPresenceMask.name, "\"");
  }

  bool RunOnDevice() override {
    if (!with_presence_ && OutputSize() > 1) (void)Output(1);  // an empty tensor
    if (CheckedIds(Input(0)).IsType<int64_t>()) {
      Fill<int64_t>();
    } else {
      Fill<int32_t>();
    }
    return true;
  }

 private:
  template <class Id>
  void Fill() {
    const Tensor &indices = Input(0), &values = Input(1), &fallback = Input(2);
    CAFFE_ENFORCE(values.dim() >= 1 && values.dim(0) == indices.numel(),
                  "input 1 (values) has shape ", values.sizes(), ", want ", indices.numel(),
                  " rows, one for each element of input 0 (indices)");
    CAFFE_ENFORCE(fallback.dtype() == values.dtype() && fallback.dim() + 1 == values.dim() &&
                      fallback.numel() == values.size_from_dim(1),
                  "input 2 (default_value) has shape ", fallback.sizes(), " and type ",
                  fallback.dtype().name(), ", want a row of input 1 (values) of shape ",
                  values.sizes(), " and type ", values.dtype().name());
    const std::vector<int64_t> rows = RowLengths(3, indices.numel());
    std::vector<int64_t> dims = OutputDims(rows.size(), 3);
    bool* presence = nullptr;
    if (with_presence_) {
      presence = OutputData<bool>(1, dims);
      std::fill_n(presence, Output(1)->numel(), false);
    }
    dims.insert(dims.end(), values.dims().begin() + 1, values.dims().end());
    Tensor* const output = Output(0, dims, values.dtype());
    auto* to = static_cast<char*>(output->raw_mutable_data(values.dtype()));
    const auto* from = static_cast<const char*>(values.raw_data());
    const auto block = static_cast<size_t>(fallback.numel());
    const size_t bytes = fallback.nbytes();
    const auto copy = [&](const void* source, int64_t column) {
      context_.CopyItemsSameDevice(values.dtype(), block, source,
                                   to + static_cast<size_t>(column) * bytes);
    };
    const Id* id = indices.data<Id>();
    for (const int64_t length : rows) {
      for (int64_t column = 0; column < columns(); ++column) copy(fallback.raw_data(), column);
      for (int64_t i = 0; i < length; ++i, ++id, from += bytes) {
        if (Skips(*id)) continue;
        const int64_t column = ColumnOf(*id);
        if (column < 0) continue;
        copy(from, column);
        if (presence != nullptr) presence[column] = true;
      }
      to += static_cast<size_t>(columns()) * bytes;
      if (presence != nullptr) presence += columns();
    }
  }

  template <class Id>
  bool Skips(Id id) {
    if (id >= 0 && id < std::numeric_limits<Id>::max()) return false;
    CAFFE_ENFORCE_LT(++skipped_, most_skipped_, "invalid ids that were skipped, the last one ", id);
    return true;
  }

  const bool with_presence_;
  const int most_skipped_;
  int skipped_ = 0;
};

class SparseToDenseMaskGradientOp final : public SparseMaskOp {
 public:
  using SparseMaskOp::SparseMaskOp;

  bool RunOnDevice() override {
    if (CheckedIds(Input(0)).IsType<int64_t>()) {
      Fill<int64_t>();
    } else {
      Fill<int32_t>();
    }
    return true;
  }

 private:
  template <class Id>
  void Fill() {
    const Tensor &indices = Input(0), &gradient = Input(1);
    const std::vector<int64_t> rows = RowLengths(2, indices.numel());
    const std::vector<int64_t> lead = OutputDims(rows.size(), 2);
    CAFFE_ENFORCE(gradient.dims().size() >= lead.size() &&
                      std::equal(lead.begin(), lead.end(), gradient.dims().begin()),
                  "input 1 (gradient of output) has shape ", gradient.sizes(),
                  ", want the first dimensions to be ", lead);
    const float* grad = gradient.data<float>();
    std::vector<int64_t> dims = {indices.numel()};
    dims.insert(dims.end(), gradient.dims().begin() + static_cast<std::ptrdiff_t>(lead.size()),
                gradient.dims().end());
    float* to = OutputData<float>(0, dims);
    const int64_t block = Output(0)->size_from_dim(1);
    const Id* id = indices.data<Id>();
    std::vector<bool> used;
    for (const int64_t length : rows) {
      used.assign(static_cast<size_t>(columns()), false);
      // From the last one on, because only the last value of an id counts.
      for (int64_t i = length; i-- > 0;) {
        const int64_t column = ColumnOf(id[i]);
        const bool counts = column >= 0 && !used[static_cast<size_t>(column)];
        if (counts) {
          used[static_cast<size_t>(column)] = true;
          std::copy_n(grad + column * block, block, to + i * block);
        } else {
          std::fill_n(to + i * block, block, 0.0f);
        }
      }
      id += length;
      to += length * block;
      grad += columns() * block;
    }
  }
};

class GetSparseToDenseMaskGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    std::vector<std::string> inputs = {I(0), GO(0)};
    if (def_.input_size() == 4) inputs.push_back(I(3));
    return SingleGradientDef("SparseToDenseMaskGradient", "", inputs, {GI(1)});
  }
};

std::vector<TensorShape> InferDenseMask(const OperatorDef& def,
                                        const std::vector<TensorShape>& in) {
  const auto columns = static_cast<int64_t>(ArgumentHelper(def).Read(kDenseMask).size());
  std::vector<TensorShape> out(static_cast<size_t>(def.output_size()));
  std::vector<int64_t> dims;
  if (in.size() > 3) {
    if (in[3].unknown_shape() || in[3].dims_size() != 1) {
      for (TensorShape& shape : out) shape.set_unknown_shape(true);
      return out;
    }
    dims.push_back(in[3].dims(0));
  }
  dims.push_back(columns);
  if (out.size() > 1) out[1] = CreateTensorShape(dims, TensorProto::BOOL);
  if (in[2].unknown_shape()) {
    out[0].set_unknown_shape(true);
    return out;
  }
  dims.insert(dims.end(), in[2].dims().begin(), in[2].dims().end());
  out[0] = CreateTensorShape(dims, in[1].data_type());
  return out;
}

std::vector<TensorShape> InferDenseMaskGradient(const OperatorDef&,
                                                const std::vector<TensorShape>& in) {
  const int lead = in.size() > 2 ? 2 : 1;
  TensorShape unknown;
  unknown.set_unknown_shape(true);
  if (in[0].unknown_shape() || in[0].dims_size() != 1 || in[1].unknown_shape() ||
      in[1].dims_size() < lead) {
    return {unknown};
  }
  std::vector<int64_t> dims = {in[0].dims(0)};
  dims.insert(dims.end(), in[1].dims().begin() + lead, in[1].dims().end());
  return {CreateTensorShape(dims, TensorProto::FLOAT)};
}

}  // namespace

void RegisterSparseToDenseMask() {
  RegisterSchema("SparseToDenseMask", __FILE__)
      .NumInputs(3, 4)
      .NumOutputs(1, 2)
      .Args(kDenseMask, kReturnPresenceMask, kMaxSkippedIndices)
      .Input(0, "indices", "ids, [n] int32 or int64")
      .Input(1, "values", "[n, block..], any type")
      .Input(2, "default_value", "[block..], the type of the values")
      .Input(3, "lengths",
             "the number of ids of each row, [rows] int32; without it there is one row")
      .Output(0, "output", "[rows, columns, block..]")
      .Output(1, "presence_mask", "[rows, columns] bool: which columns have a value")
      .TensorInferenceFunction(&InferDenseMask)
      .SetDoc("Turns lists of ids and values into rows with a column for each id of the mask.");
  RegisterCpuOperator<SparseToDenseMaskOp>("SparseToDenseMask", __FILE__);
  RegisterGradient<GetSparseToDenseMaskGradient>("SparseToDenseMask", __FILE__);

  RegisterSchema("SparseToDenseMaskGradient", __FILE__)
      .NumInputs(2, 3)
      .NumOutputs(1)
      .Args(kDenseMask, kReturnPresenceMask, kMaxSkippedIndices)
      .Input(0, "indices", "ids, [n] int32 or int64")
      .Input(1, "d_output", "the gradient of the output, float")
      .Input(2, "lengths", "the number of ids of each row, [rows] int32")
      .Output(0, "d_values", "the gradient of the values, [n, block..] float")
      .TensorInferenceFunction(&InferDenseMaskGradient)
      .SetDoc("Computes the gradient of the values of SparseToDenseMask.");
  RegisterCpuOperator<SparseToDenseMaskGradientOp>("SparseToDenseMaskGradient", __FILE__);
}

}  // namespace caffe2rt
