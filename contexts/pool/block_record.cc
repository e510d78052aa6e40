#include "contexts/pool/block_record.h"

#include <algorithm>

namespace caffe2rt::internal {

void StreamSet::Insert(StreamIndex stream) {
  if (std::find(begin(), end(), stream) != end()) return;
  if (count_ < kFew) {
    few_[count_++] = stream;
    return;
  }
  if (many_ == nullptr) many_ = std::make_unique<std::vector<StreamIndex>>();
  if (count_ == kFew) many_->assign(few_, few_ + kFew);
  many_->push_back(stream);
  ++count_;
}

void BlockRecord::AddUse(StreamIndex stream) {
  if (stream != home && stream != kNoStream) uses.Insert(stream);
}

void BlockTable::Give(BlockRecord* record) {
  record->data = nullptr;
  record->bytes = record->requested_bytes = 0;
  record->before = record->after = record->previous = nullptr;
  record->uses.Clear();
  record->sequence = 0;  // the number was counted for the old home
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
