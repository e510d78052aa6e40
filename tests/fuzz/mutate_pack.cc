#include "tests/fuzz/mutate_pack.h"

#include <algorithm>
#include <cstring>

#include "caffe2_core/base/content_sum.h"
#include "caffe2_core/io/pack_check.h"
#include "caffe2_core/io/proto_file.h"
#include "caffe2rt/packed_model.pb.h"
#include "tests/fuzz/mutate_net.h"

namespace caffe2rt::test {
namespace {

uint64_t EdgeValue(Random* random, uint64_t old) {
  const uint64_t edges[] = {0,          1,
                            63,         64,
                            old + 64,   old - 64,
                            old + 1,    uint64_t{1} << 32,
                            UINT64_MAX, random->Below(4096)};
  return edges[random->Below(std::size(edges))];
}

void MutateBlock(Random* random, PackedBlock* block) {
  if (random->OneIn(2)) {
    block->set_offset(EdgeValue(random, block->offset()));
  } else {
    block->set_size(EdgeValue(random, block->size()));
  }
}

void MutateTensor(Random* random, PackedTensor* tensor) {
  switch (random->Below(7)) {
    case 0:
      MutateBlock(random, tensor->mutable_block());
      break;
    case 1:
      tensor->set_data_type(static_cast<int>(random->Below(16)));
      break;
    case 2:
      tensor->add_dims(static_cast<int64_t>(EdgeValue(random, 1)));
      break;
    case 3:
      if (tensor->dims_size() > 0) {
        tensor->set_dims(
            0, static_cast<int64_t>(EdgeValue(random, static_cast<uint64_t>(tensor->dims(0)))));
      }
      break;
    case 4:
      if (tensor->form_size() > 0) MutateBlock(random, tensor->mutable_form(0)->mutable_block());
      break;
    case 5:
      *tensor->add_form()->mutable_block() = tensor->block();
      tensor->mutable_form(tensor->form_size() - 1)->set_key("form");
      break;
    default:
      tensor->set_scale(static_cast<float>(random->Below(3)));
      if (!random->OneIn(4)) tensor->set_zero_point(static_cast<int>(random->Below(300)));
  }
}

void MutateIndex(Random* random, PackedIndex* index) {
  const int tensors = index->tensor_size();
  if (random->OneIn(2)) {
    MutateNet(random, index->mutable_predict_net());
  } else if (tensors > 0 && !random->OneIn(4)) {
    MutateTensor(random, index->mutable_tensor(
                             static_cast<int>(random->Below(static_cast<uint64_t>(tensors)))));
  } else if (tensors > 0) {
    *index->add_tensor() = index->tensor(0);
    if (random->OneIn(2)) index->mutable_tensor(tensors)->set_name("copy");
  } else {
    index->add_blob()->set_name("blob");
  }
}

}  // namespace

bool MutatePack(Random* random, const BytesMutator& mutate_bytes, std::string* bytes) {
  uint64_t at = 0;
  if (bytes->size() < kPackHeaderBytes) return false;
  std::memcpy(&at, bytes->data() + 24, sizeof(at));
  if (at < kPackHeaderBytes || at > bytes->size()) return false;
  std::string blocks = bytes->substr(0, at), index_bytes = bytes->substr(at);
  PackedIndex index;
  if (ParseProtoFromLargeString(index_bytes, &index) && !random->OneIn(6)) {
    MutateIndex(random, &index);
    index_bytes = index.SerializePartialAsString();
  } else {
    mutate_bytes(random, random->OneIn(2) ? &index_bytes : &blocks);
  }
  blocks.resize((std::max(blocks.size(), kPackHeaderBytes) + 63) / 64 * 64);
  const PackHeader header = {.index_offset = blocks.size(),
                             .index_size = index_bytes.size(),
                             .index_checksum = ContentSum(index_bytes.data(), index_bytes.size())};
  *bytes = blocks + index_bytes;
  bytes->replace(0, kPackHeaderBytes, PackHeaderBytes(header, bytes->size()));
  return true;
}

}  // namespace caffe2rt::test
