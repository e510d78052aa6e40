// IntIndexCreate, LongIndexCreate, StringIndexCreate, IndexLoad, IndexGet, IndexFreeze, IndexSize, IndexStore:
// dictionaries that number keys in the order in which they come, and that threads may share.
//
//   IntIndexCreate, LongIndexCreate, StringIndexCreate  ->  index of int32, int64 or string keys
//   IndexLoad    index, items   ->  index (in place), whose keys are the items, numbered from 1
//   IndexGet     index, keys    ->  int64 numbers in the shape of keys; adds keys that it does not have. A
//                                   frozen index gives 0 for them
//   IndexFreeze  index          ->  index (in place), which takes no further keys from IndexGet
//   IndexSize    index          ->  int64 scalar: the number of keys + 1, as number 0 is no key's
//   IndexStore   index          ->  [N] the keys in order
//
// A file has the keys as a tensor, and "<max_elements> <frozen, 0 or 1>".
#include <absl/strings/numbers.h>
#include <absl/strings/str_split.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "caffe2_core/base/mutex.h"
#include "caffe2_core/graph/device_inference.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/io/blob_serialization.h"
#include "caffe2_core/io/proto_file.h"
#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/tensor/synchronized_types.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/inference.h"

namespace caffe2rt {
namespace {

constexpr ArgumentSpec<int> kMaxElements{
    "max_elements", std::numeric_limits<int>::max(),
    "the most keys that IndexLoad may give, and one more than IndexGet may add"};
constexpr ArgumentSpec<bool> kSkipFirstEntry{"skip_first_entry", false,
                                             "leave the first item out, which stands for no key"};
constexpr char kIndexBlobType[] = "std::unique_ptr<caffe2::IndexBase>";

// A dictionary with keys of one type. Thread safe.
class Index {
 public:
  explicit Index(int64_t max_elements) : max_elements_(max_elements) {}
  virtual ~Index() = default;
  int64_t max_elements() const { return max_elements_; }
  virtual bool frozen() const = 0;
  virtual void Freeze() = 0;
  virtual int64_t size() const = 0;  // the number of keys
  // Writes the number of each element of `keys`. THROWS for keys of another type, and if a key would
  // be one too many; those before it are added then.
  virtual void Get(const Tensor& keys, int64_t* numbers) = 0;
  // Replaces the keys by the elements from `first` on. THROWS, without any effect, if there are more
  // than max_elements() or equal ones.
  virtual void Load(const Tensor& items, int64_t first) = 0;
  // Makes `items` [size()] of the keys.
  virtual void Store(Tensor* items) const = 0;

 private:
  const int64_t max_elements_;
};

// T is int32_t, int64_t or std::string.
template <class T>
class IndexOf final : public Index {
 public:
  using Index::Index;

  bool frozen() const override {
    const MutexLock lock(mutex_);
    return frozen_;
  }
  void Freeze() override {
    const MutexLock lock(mutex_);
    frozen_ = true;
  }
  int64_t size() const override {
    const MutexLock lock(mutex_);
    return static_cast<int64_t>(numbers_.size());
  }
  void Get(const Tensor& keys, int64_t* numbers) override {
    const T* const key = KeysOf(keys);
    const MutexLock lock(mutex_);
    for (int64_t i = 0; i < keys.numel(); ++i) numbers[i] = NumberOf(key[i]);
  }
  void Load(const Tensor& items, int64_t first) override {
    const T* const key = KeysOf(items);
    const int64_t count = items.numel() - first;
    CAFFE_ENFORCE_LE(count, max_elements(), "keys to load, want at most max_elements");
    std::unordered_map<T, int64_t> numbers;
    for (int64_t i = 0; i < count; ++i) {
      CAFFE_ENFORCE(numbers.try_emplace(key[first + i], i + 1).second, "element ", first + i,
                    " of input 1 (items) is \"", key[first + i], "\", which comes before, too");
    }
    const MutexLock lock(mutex_);
    numbers_.swap(numbers);
  }
  void Store(Tensor* items) const override {
    const MutexLock lock(mutex_);
    items->Resize(static_cast<int64_t>(numbers_.size()));
    T* const keys = items->template mutable_data<T>();
    for (const auto& [key, number] : numbers_) keys[number - 1] = key;
  }

 private:
  static const T* KeysOf(const Tensor& keys) {
    CAFFE_ENFORCE(keys.IsType<T>(), "input 1 has elements of type ", keys.dtype().name(),
                  ", want that of the index's keys, ", TypeMeta::Name<T>());
    return keys.template data<T>();
  }
  int64_t NumberOf(const T& key) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const auto found = numbers_.find(key);
    if (found != numbers_.end()) return found->second;
    if (frozen_) return 0;
    const auto number = static_cast<int64_t>(numbers_.size()) + 1;
    CAFFE_ENFORCE_LT(number, max_elements(), "number of the new key \"", key,
                     "\", want less than max_elements");
    numbers_.emplace(key, number);
    return number;
  }

  mutable Mutex mutex_;
  bool frozen_ ABSL_GUARDED_BY(mutex_) = false;
  std::unordered_map<T, int64_t> numbers_ ABSL_GUARDED_BY(mutex_);
};

// The content of the blob.
using IndexBlob = std::unique_ptr<Index>;

const Index& NotNull(const IndexBlob& index) {
  CAFFE_ENFORCE(index != nullptr, "input 0 (handle) holds no index");
  return *index;
}

class IndexSerializer final : public BlobSerializerBase {
 public:
  void Serialize(const void* object, TypeMeta, const std::string& name,
                 SerializationAcceptor acceptor) override {
    const Index& index = NotNull(*static_cast<const IndexBlob*>(object));
    Tensor items(CPU);
    index.Store(&items);
    BlobProto proto;
    proto.set_name(name);
    proto.set_type(kIndexBlobType);
    proto.set_content(MakeString(index.max_elements(), " ", index.frozen() ? 1 : 0));
    TensorSerializer().Serialize(items, name, proto.mutable_tensor(), 0, kNoChunking);
    acceptor(name, ProtoToBinary(proto));
  }
};

class IndexDeserializer final : public BlobDeserializerBase {
 public:
  void Deserialize(const BlobProto& proto, Blob* blob) override {
    const std::vector<std::string> numbers = absl::StrSplit(proto.content(), ' ');
    int64_t max_elements = 0;
    int frozen = 0;
    CAFFE_ENFORCE(numbers.size() == 2 && absl::SimpleAtoi(numbers[0], &max_elements) &&
                      absl::SimpleAtoi(numbers[1], &frozen),
                  "the record of index \"", proto.name(), "\" has the text \"", proto.content(),
                  "\", want two numbers");
    const Tensor items = TensorDeserializer().Deserialize(proto.tensor());
    DispatchByType<int32_t, int64_t, std::string>(
        items.dtype(), "the record of the index", [&](const auto& element) {
          auto index = std::make_unique<IndexOf<std::decay_t<decltype(element)>>>(max_elements);
          index->Load(items, 0);
          if (frozen != 0) index->Freeze();
          *blob->GetMutable<IndexBlob>() = std::move(index);
        });
  }
};

template <class T>
class IndexCreateOp final : public Operator<CPUContext> {
 public:
  IndexCreateOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), max_elements_(ReadArgument(kMaxElements)) {}
  bool RunOnDevice() override {
    *OperatorBase::Output<IndexBlob>(0) = std::make_unique<IndexOf<T>>(max_elements_);
    return true;
  }

 private:
  const int max_elements_;
};

// The base class of operators on an existing index, which is input 0.
class IndexOp : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;

 protected:
  Index& TheIndex() const { return const_cast<Index&>(NotNull(OperatorBase::Input<IndexBlob>(0))); }
};

class IndexGetOp final : public IndexOp {
 public:
  using IndexOp::IndexOp;
  bool RunOnDevice() override {
    const Tensor& keys = Input(1);
    TheIndex().Get(keys, OutputData<int64_t>(0, keys.sizes()));
    return true;
  }
};

class IndexLoadOp final : public IndexOp {
 public:
  IndexLoadOp(const OperatorDef& def, Workspace* ws)
      : IndexOp(def, ws), first_(ReadArgument(kSkipFirstEntry) ? 1 : 0) {}
  bool RunOnDevice() override {
    const Tensor& items = Input(1);
    CAFFE_ENFORCE_GE(items.numel(), first_, "elements of input 1 (items), want the one to skip");
    TheIndex().Load(items, first_);
    return true;
  }

 private:
  const int64_t first_;
};

class IndexFreezeOp final : public IndexOp {
 public:
  using IndexOp::IndexOp;
  bool RunOnDevice() override {
    TheIndex().Freeze();
    return true;
  }
};

class IndexSizeOp final : public IndexOp {
 public:
  using IndexOp::IndexOp;
  bool RunOnDevice() override {
    *OutputData<int64_t>(0, {}) = TheIndex().size() + 1;
    return true;
  }
};

class IndexStoreOp final : public IndexOp {
 public:
  using IndexOp::IndexOp;
  bool RunOnDevice() override {
    TheIndex().Store(OperatorBase::Output<Tensor>(0));
    return true;
  }
};

// The schema of an operator on an existing index.
OpSchema& IndexSchema(const char* type, int inputs) {
  return RegisterSchema(type, __FILE__)
      .NumInputs(inputs)
      .NumOutputs(1)
      .Input(0, "handle", "an index")
      .SynchronizedInputs({0});
}

template <class T>
void RegisterCreation(const char* type, const char* doc) {
  RegisterSchema(type, __FILE__)
      .NumInputs(0)
      .NumOutputs(1)
      .Arg(kMaxElements)
      .Output(0, "handle", "the index")
      .SetDoc(doc);
  RegisterCpuOperator<IndexCreateOp<T>>(type, __FILE__);
  // As in Caffe2, the gradient is absent without an error.
  RegisterGradient<NoGradient>(type, __FILE__);
}

void RegisterIndexChanges() {
  IndexSchema("IndexLoad", 2)
      .Input(1, "items", "the keys: int32, int64 or strings, any shape")
      .Arg(kSkipFirstEntry)
      .Output(0, "handle", "the index")
      .EnforceInplace({{0, 0}})
      .SetDoc("Replaces the keys of an index. They get the numbers 1, 2, ... in their order.");
  RegisterCpuOperator<IndexLoadOp>("IndexLoad", __FILE__);

  IndexSchema("IndexFreeze", 1)
      .Output(0, "handle", "the index")
      .EnforceInplace({{0, 0}})
      .SetDoc("Freezes an index: IndexGet adds no further keys.");
  RegisterCpuOperator<IndexFreezeOp>("IndexFreeze", __FILE__);
}

void RegisterIndexReads() {
  IndexSchema("IndexGet", 2)
      .Input(1, "keys", "int32, int64 or strings, any shape")
      .Output(0, "indices", "int64, the shape of keys: the numbers of the keys, 0 for none")
      .ModifiesInputs({0})
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        if (in.size() < 2 || !IsKnown(in[1])) return UnknownOutputs(def);
        return std::vector<TensorShape>{
            CreateTensorShape(GetDimsVector(in[1]), TensorProto_DataType_INT64)};
      })
      .SetDoc(
          "Returns the numbers of the keys. Keys that the index does not have get the next "
          "numbers, or 0 if it is frozen.");
  RegisterCpuOperator<IndexGetOp>("IndexGet", __FILE__);

  IndexSchema("IndexSize", 1)
      .Output(0, "items", "int64 scalar: the number of keys + 1")
      .ScalarType(TensorProto_DataType_INT64)
      .SetDoc("Returns the number of keys and of the number 0, which is no key's.");
  RegisterCpuOperator<IndexSizeOp>("IndexSize", __FILE__);

  IndexSchema("IndexStore", 1)
      .Output(0, "items", "[N]: the keys in the order of their numbers")
      .SetDoc("Returns the keys of an index.");
  RegisterCpuOperator<IndexStoreOp>("IndexStore", __FILE__);
}

}  // namespace

void RegisterIndex() {
  DeclareSynchronizedType<IndexBlob>();
  BlobSerializerRegistry().Register(
      TypeMeta::Id<IndexBlob>(), [] { return std::make_unique<IndexSerializer>(); }, __FILE__);
  BlobDeserializerRegistry().Register(
      kIndexBlobType, [] { return std::make_unique<IndexDeserializer>(); }, __FILE__);
  RegisterCreation<int32_t>("IntIndexCreate", "Creates an index of int32 keys.");
  RegisterCreation<int64_t>("LongIndexCreate", "Creates an index of int64 keys.");
  RegisterCreation<std::string>("StringIndexCreate", "Creates an index of string keys.");
  RegisterIndexChanges();
  RegisterIndexReads();
  // Numbers of keys do not depend on values. IndexGet has no gradient maker, as in Caffe2.
  for (const char* type : {"IndexLoad", "IndexFreeze", "IndexSize", "IndexStore"}) {
    RegisterGradient<ThrowInTheTowelIfGradientIsCalled>(type, __FILE__);
  }
}

}  // namespace caffe2rt
