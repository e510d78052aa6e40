// FindDuplicateElements: the positions of the elements that were there before.
//   data [N]  ->  indices int64 [M]
// KeySplit: the positions of each key.
//   keys int64 [N], each at least 0 and below categorical_limit  ->  an int32 list for each key
// IndexHash: a hash of each index, at least 0 and less than modulo.
//   Indices int32 or int64, any shape  ->  the same shape and type
#include <climits>
#include <string>
#include <type_traits>
#include <unordered_set>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/inference.h"

namespace caffe2rt {
namespace {

constexpr ArgumentSpec<int> kKeySplitLimit{"categorical_limit", 0,
                                           "the number of keys, which is that of the outputs"};
constexpr ArgumentSpec<int64_t> kIndexHashSeed{"seed", 0, "the start of the hash"};
constexpr ArgumentSpec<int64_t> kIndexHashModulo{
    "modulo",
    0,
    "hashes are less than this; must be given, above 0",
    {[](int64_t modulo) { return modulo > 0; }, "above 0"},
    true};

class FindDuplicateElementsOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;
  bool RunOnDevice() override {
    CAFFE_ENFORCE_EQ(Input(0).dim(), 1, "rank of input 0 (data) of shape ", Input(0).sizes());
    return DispatchByType<float, double, int32_t, int64_t, std::string>(
        Input(0).dtype(), "input 0 (data)",
        [&](const auto& element) { return Find<std::decay_t<decltype(element)>>(); });
  }

 private:
  template <class T>
  bool Find() {
    const T* const x = Input(0).data<T>();
    std::unordered_set<T> seen;
    std::vector<int64_t> positions;
    for (int64_t i = 0; i < Input(0).numel(); ++i) {
      if (!seen.insert(x[i]).second) positions.push_back(i);
    }
    std::copy(positions.begin(), positions.end(),
              OutputData<int64_t>(0, {static_cast<int64_t>(positions.size())}));
    return true;
  }
};

class KeySplitOp final : public Operator<CPUContext> {
 public:
  KeySplitOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), limit_(ReadArgument(kKeySplitLimit)) {
    CAFFE_ENFORCE_EQ(OutputSize(), limit_,
                     "outputs, want one for each key below categorical_limit");
  }
  bool RunOnDevice() override {
    const Tensor& keys = Input(0);
    CAFFE_ENFORCE_EQ(keys.dim(), 1, "rank of input 0 (keys) of shape ", keys.sizes());
    CAFFE_ENFORCE_LE(keys.numel(), INT_MAX,
                     "elements of input 0 (keys), whose positions are int32");
    const int64_t* const key = keys.data<int64_t>();
    std::vector<std::vector<int32_t>> positions(static_cast<size_t>(limit_));
    for (int64_t i = 0; i < keys.numel(); ++i) {
      CAFFE_ENFORCE(key[i] >= 0 && key[i] < limit_, "element ", i, " of input 0 (keys) is ", key[i],
                    ", want at least 0 and less than categorical_limit ", limit_);
      positions[static_cast<size_t>(key[i])].push_back(static_cast<int32_t>(i));
    }
    for (int k = 0; k < limit_; ++k) {
      const std::vector<int32_t>& list = positions[static_cast<size_t>(k)];
      std::copy(list.begin(), list.end(),
                OutputData<int32_t>(k, {static_cast<int64_t>(list.size())}));
    }
    return true;
  }

 private:
  const int limit_;
};

class IndexHashOp final : public Operator<CPUContext> {
 public:
  IndexHashOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws),
        seed_(ReadArgument(kIndexHashSeed)),
        modulo_(ReadArgument(kIndexHashModulo)) {}
  bool RunOnDevice() override {
    return DispatchByType<int32_t, int64_t>(Input(0).dtype(), "input 0 (Indices)",
                                            [&](auto index) { return Hash<decltype(index)>(); });
  }

 private:
  // Each byte of the index, as a signed number, the lowest first: hash = hash * 65537 + byte. The index's own type
  // wraps around, and a negative remainder counts from the modulo.
  template <class T>
  bool Hash() {
    using Bits = std::make_unsigned_t<T>;
    const Tensor& X = Input(0);
    const T* const x = X.data<T>();
    T* const y = OutputData<T>(0, X.sizes());
    const auto start = static_cast<Bits>(static_cast<uint64_t>(seed_) * 0xDEADBEEFu);
    for (int64_t i = 0; i < X.numel(); ++i) {
      Bits hash = start, rest = static_cast<Bits>(x[i]);
      for (size_t b = 0; b < sizeof(T); ++b, rest >>= 8) {
        hash = hash * Bits{65537} + static_cast<Bits>(static_cast<int8_t>(rest & 0xff));
      }
      const int64_t remainder = static_cast<T>(hash) % modulo_;
      y[i] = static_cast<T>(remainder >= 0 ? remainder : remainder + modulo_);
    }
    return true;
  }
  const int64_t seed_, modulo_;
};

}  // namespace

void RegisterKeys() {
  RegisterSchema("FindDuplicateElements", __FILE__)
      .NumInputs(1)
      .NumOutputs(1)
      .Input(0, "data", "[N] float, double, int32, int64 or strings")
      .Output(0, "indices", "int64 [M]: the positions of the elements that equal one before them")
      .TensorInferenceFunction([](const OperatorDef&, const std::vector<TensorShape>&) {
        return std::vector<TensorShape>{UnknownShapeOf(TensorProto_DataType_INT64)};
      })
      .SetDoc("Finds the elements of a list that repeat one before them.");
  RegisterCpuOperator<FindDuplicateElementsOp>("FindDuplicateElements", __FILE__);

  RegisterSchema("KeySplit", __FILE__)
      .NumInputs(1)
      .NumOutputs(1, INT_MAX)
      .Arg(kKeySplitLimit)
      .Input(0, "keys", "[N] int64, at least 0 and less than categorical_limit")
      .Output(0, "positions_0, positions_1, ...",
              "int32 lists: where each key is, one output for each key")
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>&) {
        return std::vector<TensorShape>(static_cast<size_t>(def.output_size()),
                                        UnknownShapeOf(TensorProto_DataType_INT32));
      })
      .SetDoc("Lists the positions of each key.");
  RegisterCpuOperator<KeySplitOp>("KeySplit", __FILE__);

  RegisterSchema("IndexHash", __FILE__)
      .NumInputs(1)
      .NumOutputs(1)
      .Args(kIndexHashSeed, kIndexHashModulo)
      .Input(0, "Indices", "int32 or int64, any shape")
      .Output(0, "HashedIndices", "the shape and type of Indices: at least 0 and less than modulo")
      .AllowInplace({{0, 0}})
      .IdenticalTypeAndShape()
      .SetDoc("Hashes indices, as Caffe2 does.");
  RegisterCpuOperator<IndexHashOp>("IndexHash", __FILE__);
  // Positions and hashes have no derivative. KeySplit has no maker, as in Caffe2.
  for (const char* type : {"FindDuplicateElements", "IndexHash"}) {
    RegisterGradient<ThrowInTheTowelIfGradientIsCalled>(type, __FILE__);
  }
}

}  // namespace caffe2rt
