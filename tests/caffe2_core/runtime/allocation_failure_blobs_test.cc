// Blobs, their parts and tensors while allocations fail.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "caffe2_core/io/blob_serialization.h"
#include "tests/caffe2_core/runtime/io_without_memory.h"

namespace caffe2rt::allocation_failure_blobs_test {
namespace {

using test::IoWithoutMemoryTest;
using test::Own;

TEST_F(IoWithoutMemoryTest, SerializesBlobsAndParts) {
  Blob blob, text, out;
  *blob.GetMutable<Tensor>() = Floats({5});
  *text.GetMutable<std::string>() = long_;
  const Tensor& tensor = blob.Get<Tensor>();
  const std::string record = SerializeBlob(blob, long_);
  BlobProto parsed;
  ASSERT_TRUE(parsed.ParseFromString(record));
  std::vector<std::string> keys;
  const std::string key = long_ + "#%7";
  std::string bytes, name;
  TensorProto part;
  Tensor read(CPU);
  const auto chunks = [&] {
    return keys == std::vector<std::string>{long_ + "#%0", long_ + "#%1", long_ + "#%2"};
  };
  const auto keep = [&](const std::string& chunk, const std::string&) {
    Own([&] { keys.push_back(chunk); });
  };
  SweepRows(
      {{"SerializeBlob in chunks",
        [&] {
          keys.clear();
          SerializeBlob(blob, long_, keep, 2);
        },
        chunks},
       {"SerializeBlob of an object in chunks",
        [&] {
          keys.clear();
          SerializeBlob(blob.GetRaw(), blob.meta(), long_, keep, 2);
        },
        chunks},
       {"SerializeBlob", [&] { bytes = SerializeBlob(blob, long_); },
        [&] { return bytes == record; }},
       {"SerializeBlob of an object",
        [&] { bytes = SerializeBlob(blob.GetRaw(), blob.meta(), long_); },
        [&] { return bytes == record; }},
       {"a string", [&] { bytes = SerializeBlob(text, long_); },
        [&] { return parsed.ParseFromString(bytes) && parsed.content() == long_; }},
       {"DeserializeBlob",
        [&] {
          out.Reset();
          DeserializeBlob(record, &out);
        },
        [&] { return out.IsType<Tensor>() && out.Get<Tensor>().data<float>()[4] == 4; }},
       {"DeserializeBlob of a message",
        [&] {
          EXPECT_TRUE(Own([&] { return parsed.ParseFromString(record); }));
          out.Reset();
          DeserializeBlob(parsed, &out);
        },
        [&] { return out.IsType<Tensor>() && out.Get<Tensor>().data<float>()[4] == 4; }},
       {"BlobNameFromKey", [&] { name = BlobNameFromKey(key); }, [&] { return name == long_; }},
       {"a part",
        [&] {
          part.Clear();
          TensorSerializer().Serialize(tensor, long_, &part, 1, 2);
        },
        [&] { return part.float_data_size() == 2 && part.float_data(1) == 2; }},
       {"a part that is read",
        [&] {
          part.Clear();
          TensorSerializer().Serialize(tensor, long_, &part, 0, 0);
          TensorDeserializer().Deserialize(part, &read);
        },
        [&] { return read.data<float>()[4] == 4; }},
       {"a new tensor", [&] { read = TensorDeserializer().Deserialize(part); },
        [&] { return read.data<float>()[4] == 4; }}});
}

TEST_F(IoWithoutMemoryTest, ChangesTensors) {
  const Tensor source = Floats({2, 3});
  std::optional<Tensor> tensor;
  const std::vector<int64_t> room = {9, 3};
  std::vector<int64_t> large(20, 1);
  large[0] = 6;
  const auto holds = [&](const std::vector<int64_t>& dims) {
    return tensor->dims() == dims && tensor->data<float>()[5] == 5;
  };
  const auto copy = [&] { tensor = source.Clone(); };
  float foreign[6] = {0, 1, 2, 3, 4, 5};
  SweepRows({{"Clone", copy,
              [&] {
                return holds({2, 3});
              }},
             {"Resize and fill",
              [&] {
                tensor.emplace(CPU);
                tensor->Resize(large);
                tensor->mutable_data<float>()[5] = 5;
              },
              [&] { return holds(large); }},
             {"Reshape",
              [&] {
                copy();
                tensor->Reshape(large);
              },
              [&] { return holds(large); }},
             {"Reserve",
              [&] {
                copy();
                tensor->Reserve(room, nullptr);
              },
              [&] {
                return holds({2, 3}) && tensor->capacity_nbytes() >= 108;
              }},
             {"Extend",
              [&] {
                copy();
                tensor->Extend(2, 50, nullptr);
              },
              [&] {
                return holds({4, 3});
              }},
             {"ReserveSpace",
              [&] {
                copy();
                tensor->ReserveSpace(10);
              },
              [&] { return tensor->capacity_nbytes() >= 120 && tensor->dim(0) == 2; }},
             {"ShareExternalPointer",
              [&] {
                tensor.emplace(CPU);
                tensor->Resize(6);
                tensor->ShareExternalPointer(foreign);
              },
              [&] { return holds({6}); }}});
}

}  // namespace
}  // namespace caffe2rt::allocation_failure_blobs_test
