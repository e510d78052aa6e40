#include "contexts/pool/block_record.h"

#include <algorithm>

namespace caffe2rt::internal {

void BlockRecord::AddUse(StreamIndex stream) {
  if (stream == home || stream == kNoStream) return;
  if (std::find(uses.begin(), uses.end(), stream) == uses.end()) uses.push_back(stream);
}

void BlockTable::Give(BlockRecord* record) {
  record->data = nullptr;
  record->bytes = record->requested_bytes = 0;
  record->before = record->after = record->previous = nullptr;
  record->uses.clear();  // keeps its memory: a warm pool takes none
  record->waits = 0;
  record->state = BlockState::kUnused;
  record->event = nullptr;
  record->next = unused_;
  unused_ = record;
}

void BlockTable::AddSlab() {
  constexpr size_t kRecords = 64;
  slabs_.push_back(std::make_unique<BlockRecord[]>(kRecords));
  for (size_t i = kRecords; i-- > 0;) {
    BlockRecord& record = slabs_.back()[i];
    record.pool = pool_;
    record.next = unused_;
    unused_ = &record;
  }
}

}  // namespace caffe2rt::internal
