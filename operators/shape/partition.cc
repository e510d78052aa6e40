// Partition: distributes elements and rows over shards, by the remainder of keys divided by the
// number of shards. LengthsPartition: the same for segments, with the lengths in each shard.
// GatherByKey: the reverse, for rows.
//   keys, inputs [dims of keys, ...]
//     -> for each shard: keys [M], inputs [M, ...]
//   lengths int32 [S], keys [sum of lengths], inputs [sum of lengths, ...]
//     -> for each shard: lengths [S], keys [M], inputs [M, ...]
//   keys [N], for each shard: values [M, ...]  ->  [N, ...]
// Keys are int32 or int64. The shard of a negative key is not negative. With pack_first_input the
// keys of a shard are divided by the number of shards.
#include <algorithm>
#include <climits>
#include <vector>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/copy_rows.h"
#include "operators/common/element_type.h"
#include "operators/common/inference.h"
#include "operators/common/segment_offsets.h"

namespace caffe2rt {
namespace {

constexpr ArgumentSpec<bool> kPackKeys{
    "pack_first_input", false, "1: the keys of a shard are divided by the number of shards"};

// The shard of each key, and the number of keys of each shard.
class KeyShards {
 public:
  // THROWS unless the elements are int32 or int64.
  void Read(const Tensor& keys, const char* subject, int shards) {
    counts_.assign(static_cast<size_t>(shards), 0);
    DispatchByType<int32_t, int64_t>(keys.dtype(), subject, [&](auto number) {
      const auto* const key = keys.data<decltype(number)>();
      shards_.resize(static_cast<size_t>(keys.numel()));
      for (size_t i = 0; i < shards_.size(); ++i) {
        const int64_t remainder = key[i] % int64_t{shards};
        shards_[i] = static_cast<int>(remainder < 0 ? remainder + shards : remainder);
        ++counts_[static_cast<size_t>(shards_[i])];
      }
    });
  }
  // The shard of each key.
  const std::vector<int>& shards() const { return shards_; }
  int64_t count(int shard) const { return counts_[static_cast<size_t>(shard)]; }

 private:
  std::vector<int> shards_;
  std::vector<int64_t> counts_;
};

// Partition, and with kLengths LengthsPartition.
template <bool kLengths>
class PartitionOp final : public Operator<CPUContext> {
 public:
  PartitionOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws),
        packs_keys_(ReadArgument(kPackKeys)),
        shards_(OutputSize() / InputSize()) {}

  bool RunOnDevice() override {
    constexpr const char* kSubject = kLengths ? "input 1 (keys)" : "input 0 (keys)";
    const Tensor& keys = Input(kKeys);
    if (kLengths) CAFFE_ENFORCE_EQ(keys.dim(), 1, "rank of input 1 (keys)");
    RequireElementsOf<int32_t, int64_t>(keys, kSubject);
    for (int i = kKeys + 1; i < InputSize(); ++i) {
      CAFFE_ENFORCE(Input(i).sizes().size() >= keys.sizes().size() &&
                        std::equal(keys.dims().begin(), keys.dims().end(), Input(i).dims().begin()),
                    "input ", i, " has shape ", Input(i).sizes(), ", want that of ", kSubject, ", ",
                    keys.sizes(), ", or with more dimensions behind");
    }
    if constexpr (kLengths) {
      segments_.template Read<int32_t>(*this, 0, "input 0 (lengths)");
      CAFFE_ENFORCE_EQ(segments_.total(), keys.numel(),
                       "sum of the lengths, want the elements of input 1 (keys)");
    }
    key_shards_.Read(keys, kSubject, shards_);
    if constexpr (kLengths) DistributeLengths();
    for (int i = kKeys; i < InputSize(); ++i) Distribute(i);
    if (packs_keys_) {
      for (int shard = 0; shard < shards_; ++shard) PackKeys(Output(shard * InputSize() + kKeys));
    }
    return true;
  }

 private:
  static constexpr int kKeys = kLengths ? 1 : 0;

  void DistributeLengths() {
    places_.resize(static_cast<size_t>(shards_));
    for (int shard = 0; shard < shards_; ++shard) {
      int32_t* const lengths = OutputData<int32_t>(shard * InputSize(), {segments_.count()});
      std::fill_n(lengths, segments_.count(), 0);
      places_[static_cast<size_t>(shard)] = lengths;
    }
    for (int64_t s = 0; s < segments_.count(); ++s) {
      for (int64_t i = segments_.offset(s); i < segments_.offset(s + 1); ++i) {
        const int shard = key_shards_.shards()[static_cast<size_t>(i)];
        ++static_cast<int32_t*>(places_[static_cast<size_t>(shard)])[s];
      }
    }
  }

  void Distribute(int i) {
    const Tensor& input = Input(i);
    const TypeMeta type = input.dtype();
    const int rank = Input(kKeys).dim();
    const int64_t block = input.size_from_dim(rank);
    dims_.assign(input.dims().begin() + rank, input.dims().end());
    dims_.insert(dims_.begin(), 0);
    places_.resize(static_cast<size_t>(shards_));
    for (int shard = 0; shard < shards_; ++shard) {
      Tensor* const output = Output(shard * InputSize() + i);
      dims_[0] = key_shards_.count(shard);
      output->Resize(dims_);
      places_[static_cast<size_t>(shard)] = OutputMemory(output, type);
    }
    if (input.numel() == 0) return;
    const void* x = input.raw_data();
    for (const int shard : key_shards_.shards()) {
      void*& y = places_[static_cast<size_t>(shard)];
      CopyRow(context_, type, block, x, y);
      x = ItemAt(x, type, block);
      y = ItemAt(y, type, block);
    }
  }

  void PackKeys(Tensor* keys) {
    DispatchByType<int32_t, int64_t>(keys->dtype(), "keys", [&](auto number) {
      using Key = decltype(number);
      Key* const key = keys->template mutable_data<Key>();
      for (int64_t i = 0; i < keys->numel(); ++i) {
        // Rounded down, so that the shard and the quotient determine the key.
        const int64_t quotient = key[i] / int64_t{shards_};
        key[i] = static_cast<Key>(key[i] % int64_t{shards_} < 0 ? quotient - 1 : quotient);
      }
    });
  }

  const bool packs_keys_;
  const int shards_;
  KeyShards key_shards_;
  SegmentOffsets<CPUContext> segments_;
  std::vector<void*> places_;  // the next element of each shard
  std::vector<int64_t> dims_;
};

class GatherByKeyOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;

  bool RunOnDevice() override {
    const Tensor& keys = Input(0);
    const Tensor& first = Input(1);
    CAFFE_ENFORCE_EQ(keys.dim(), 1, "rank of input 0 (keys) of shape ", keys.sizes());
    RequireElementsOf<int32_t, int64_t>(keys, "input 0 (keys)");
    CAFFE_ENFORCE_GE(first.dim(), 1, "rank of input 1 (values)");
    const TypeMeta type = first.dtype();
    for (int i = 2; i < InputSize(); ++i) {
      const Tensor& values = Input(i);
      CAFFE_ENFORCE(values.dtype() == type, "input ", i, " has elements of type ",
                    values.dtype().name(), ", want that of input 1, ", type.name());
      CAFFE_ENFORCE(
          values.dim() == first.dim() &&
              std::equal(first.dims().begin() + 1, first.dims().end(), values.dims().begin() + 1),
          "input ", i, " has shape ", values.sizes(), ", want that of input 1, ", first.sizes(),
          ", except in dimension 0");
    }
    const int shards = InputSize() - 1;
    key_shards_.Read(keys, "input 0 (keys)", shards);
    places_.resize(static_cast<size_t>(shards));
    for (int shard = 0; shard < shards; ++shard) {
      const Tensor& values = Input(shard + 1);
      CAFFE_ENFORCE_EQ(values.dim(0), key_shards_.count(shard), "dim 0 of input ", shard + 1,
                       " (values), want the number of keys of the shard");
      places_[static_cast<size_t>(shard)] = values.numel() > 0 ? values.raw_data() : nullptr;
    }
    dims_.assign(first.dims().begin(), first.dims().end());
    dims_[0] = keys.numel();
    Tensor* const output = Output(0);
    output->Resize(dims_);
    void* y = OutputMemory(output, type);
    if (output->numel() == 0) return true;
    const int64_t block = first.size_from_dim(1);
    for (const int shard : key_shards_.shards()) {
      const void*& x = places_[static_cast<size_t>(shard)];
      CopyRow(context_, type, block, x, y);
      x = ItemAt(x, type, block);
      y = ItemAt(y, type, block);
    }
    return true;
  }

 private:
  KeyShards key_shards_;
  std::vector<const void*> places_;  // the next row of each shard
  std::vector<int64_t> dims_;
};

// Distributes the gradient as the values were.
class GetGatherByKeyGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;
  bool CopyArguments() const override { return false; }

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    std::vector<std::string> outputs;
    for (int i = 1; i < def_.input_size(); ++i) {
      outputs.push_back("_" + GradientName(I(i)) + "_keys");
      outputs.push_back(GI(i));
    }
    return SingleGradientDef("Partition", "", {I(0), GO(0)}, outputs,
                             {MakeArgument(kPackKeys.name, 0)});
  }
};

std::vector<TensorShape> InferPartition(const OperatorDef& def,
                                        const std::vector<TensorShape>& in) {
  const int inputs = def.input_size();
  std::vector<TensorShape> out = UnknownOutputs(def);
  for (int i = 0; i < def.output_size(); ++i) {
    const auto from = static_cast<size_t>(i % inputs);
    if (from >= in.size()) continue;
    TensorShape& shape = out[static_cast<size_t>(i)];
    if (def.type() == "LengthsPartition" && from == 0) {
      shape = UnknownShapeOf(TensorProto::INT32);
      if (!IsKnown(in[0])) continue;
      const std::vector<int64_t> dims = {CheckedProduct(GetDimsVector(in[0]))};
      shape = CreateTensorShape(dims, TensorProto::INT32);
    } else if (in[from].has_data_type()) {
      shape = UnknownShapeOf(in[from].data_type());
    }
  }
  return out;
}

}  // namespace

void RegisterPartition() {
  const InputTypes integers{.accepted = {TensorProto::INT32, TensorProto::INT64}};
  RegisterSchema("Partition", __FILE__)
      .NumInputsOutputs([](int in, int out) { return in > 0 && out > 0 && out % in == 0; })
      .Arg(kPackKeys)
      .Input(0, "keys, ...",
             "int32 or int64, any shape; then inputs of any type, with the dimensions of keys or "
             "with more behind")
      .Output(0, "partitions",
              "for each shard, one output for each input: keys [M], and rows [M, ...]")
      .TypesOfInput(0, integers)
      .TensorInferenceFunction(InferPartition)
      .SetDoc(
          "Distributes elements over shards, as many as there are outputs for each input: by the "
          "remainder of the key, which is at least 0.");
  RegisterCpuOperator<PartitionOp<false>>("Partition", __FILE__);

  RegisterSchema("LengthsPartition", __FILE__)
      .NumInputsOutputs([](int in, int out) { return in > 1 && out > 0 && out % in == 0; })
      .Arg(kPackKeys)
      .Input(0, "lengths, keys, ...",
             "int32: the number of keys of each segment; keys [sum of lengths], int32 or int64; then "
             "inputs of any type [sum of lengths, ...]")
      .Output(0, "partitions",
              "for each shard, one output for each input: lengths [S], keys [M], and rows [M, ...]")
      .TypesOfInput(0, {.accepted = {TensorProto::INT32}})
      .TypesOfInput(1, integers)
      .TensorInferenceFunction(InferPartition)
      .SetDoc("Distributes segments of elements over shards (see Partition).");
  RegisterCpuOperator<PartitionOp<true>>("LengthsPartition", __FILE__);
  for (const char* type : {"Partition", "LengthsPartition"})
    RegisterGradient<NoGradient>(type, __FILE__);  // as in Caffe2

  RegisterSchema("GatherByKey", __FILE__)
      .NumInputs(2, INT_MAX)
      .NumOutputs(1)
      .Input(0, "keys", "[N] int32 or int64, the keys that Partition had")
      .Input(
          1, "sharded_values, ...",
          "[M, ...], elements of any type: the rows of each shard, as Partition distributes them")
      .Output(0, "values", "[N, ...]: the rows in the order of keys")
      .TypesOfInput(0, integers)
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        if (in.size() < 2) return UnknownOutputs(def);
        if (!AreKnown(in, 2) || in[0].dims_size() != 1 || in[1].dims_size() == 0) {
          return std::vector<TensorShape>{in[1].has_data_type() ? UnknownShapeOf(in[1].data_type())
                                                                : UnknownShape()};
        }
        std::vector<int64_t> dims = GetDimsVector(in[1]);
        dims[0] = in[0].dims(0);
        return std::vector<TensorShape>{CreateTensorShape(dims, in[1].data_type())};
      })
      .SetDoc("Puts the rows of shards together, in the order of the keys that Partition had.");
  RegisterCpuOperator<GatherByKeyOp>("GatherByKey", __FILE__);
  RegisterGradient<GetGatherByKeyGradient>("GatherByKey", __FILE__);
}

}  // namespace caffe2rt
