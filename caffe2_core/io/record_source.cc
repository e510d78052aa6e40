#include "caffe2_core/io/record_source.h"

#include <string_view>
#include <utility>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/random_stream.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/base/utf8.h"
#include "caffe2_core/io/record_order.h"

namespace caffe2rt {
namespace db {
namespace internal {
namespace {

// How many of `count` records belong to the shard.
int64_t ShardSize(int64_t count, const DBReaderOptions& options) {
  if (options.block > 0) return count;
  return count <= options.shard_id
             ? 0
             : (count - options.shard_id + options.num_shards - 1) / options.num_shards;
}

bool CanSeek(Cursor* cursor) { return cursor->SupportsSeek() || cursor->SupportsOffsets(); }

}  // namespace

RecordSource::RecordSource(std::unique_ptr<DB> db, const DBReaderOptions& options, std::string name)
    : db_(std::move(db)), cursor_(db_->NewCursor()), options_(options), name_(std::move(name)) {
  CAFFE_ENFORCE_GE(options.num_shards, 1, "num_shards of a DBReader");
  CAFFE_ENFORCE(options.shard_id >= 0 && options.shard_id < options.num_shards,
                "shard_id of a DBReader is ", options.shard_id,
                ", want at least 0 and less than num_shards ", options.num_shards);
  CAFFE_ENFORCE(options.block == 0 || (options.block >= options.num_shards &&
                                       options.first_block >= 0 &&
                                       options.first_block < INT64_MAX / 4 / options.block),
                "a DBReader has num_shards ", options.num_shards, ", block ", options.block,
                " and first_block ", options.first_block,
                ": a block has at least one record for each shard");
  if (options.shuffle) {
    CAFFE_ENFORCE(CanSeek(cursor_.get()), "cannot shuffle ", name_,
                  ": its cursors cannot seek; want a minidb, leveldb, lmdb or protodb");
    MakeIndex(true);
  }
  if (options.block > 0) (void)NumRecordsOfAllShards();
  MoveToBeginning();
}

void RecordSource::Read(DBRecord* record) {
  if (!damage_behind_.empty()) ThrowDamageBehind();
  if (IsEmpty()) CAFFE_THROW(name_, " has no records");
  record->position = at_;
  record->key.clear();
  std::exception_ptr damage;
  try {
    if (options_.shuffle) GoToShuffled();
    record->key = cursor_->key();
    record->value = cursor_->value();
  } catch (const OutOfMemory&) {
    throw;
  } catch (EnforceNotMet& error) {
    if (record->key.empty() && !options_.shuffle) throw;  // the cursor has read nothing
    error.AppendMessage(MakeString("record \"", Shortened(record->key), "\", number ", at_.record,
                                   " of epoch ", at_.epoch, " of ", name_));
    damage = std::current_exception();
  }
  Advance(record->key);
  if (damage != nullptr) std::rethrow_exception(std::exchange(damage, nullptr));
}

bool RecordSource::IsEmpty() {
  if (options_.block > 0) return num_records_ == 0;
  return options_.shuffle ? num_records_ <= options_.shard_id : !cursor_->Valid();
}

void RecordSource::ThrowDamageBehind() {
  const std::string message = damage_behind_;
  if (cursor_->IsBehindDamage() && options_.block == 0) {
    damage_behind_.clear();
    ++at_.record;
    // How many records are lost is not known. The shards take turns again from the first one behind
    // the damage, so that no two of them read the same record.
    try {
      for (int i = 0; i < options_.shard_id && cursor_->Valid(); ++i) cursor_->Next();
      if (!cursor_->Valid()) BeginEpoch();
    } catch (const OutOfMemory&) {
      throw;
    } catch (const EnforceNotMet& error) {
      damage_behind_ = MakeString("behind damaged records of ", name_, ": ", error.message());
    }
  }
  CAFFE_THROW(message);
}

int64_t RecordSource::StepInBlocks() const {
  // The remainders add up without an overflow.
  const int64_t in_block =
      (at_.epoch % options_.block * (num_records_ % options_.block) + at_.record) % options_.block;
  return in_block + options_.num_shards < options_.block
             ? options_.num_shards
             : options_.block - in_block + options_.shard_id;
}

void RecordSource::AdvanceCursor(int64_t records) {
  for (int64_t i = 0; i < records; ++i) {
    cursor_->Next();
    if (!cursor_->Valid()) cursor_->SeekToFirst();
  }
}

void RecordSource::Advance(const std::string& key) {
  if (options_.block > 0) {
    const int64_t step = StepInBlocks(), next = at_.record + step;
    at_ = {at_.epoch + next / num_records_, next % num_records_};
    cursor_is_at_ = false;
    if (options_.shuffle) return;
    try {
      AdvanceCursor(step);
    } catch (const OutOfMemory&) {
      throw;
    } catch (const EnforceNotMet& error) {
      damage_behind_ =
          MakeString("behind record \"", Shortened(key), "\" of ", name_, ": ", error.message());
    }
    return;
  }
  if (options_.shuffle) {
    cursor_is_at_ = false;
    if (++at_.record >= ShardSize(num_records_, options_)) at_ = {at_.epoch + 1, 0};
    return;
  }
  try {
    ++at_.record;
    for (int i = 0; i < options_.num_shards; ++i) {
      cursor_->Next();
      if (!cursor_->Valid()) return BeginEpoch();
    }
  } catch (const OutOfMemory&) {
    throw;
  } catch (const EnforceNotMet& error) {
    damage_behind_ =
        MakeString("behind record \"", Shortened(key), "\" of ", name_, ": ", error.message());
  }
}

void RecordSource::BeginEpoch() {
  at_ = {at_.epoch + 1, 0};
  MoveToBeginning();
}

void RecordSource::SeekToFirst() {
  at_ = {};
  damage_behind_.clear();
  MoveToBeginning();
}

void RecordSource::MoveToBeginning() {
  cursor_is_at_ = false;
  if (options_.block > 0) {
    const int64_t first = options_.first_block * options_.block + options_.shard_id;
    if (num_records_ > 0) at_ = {first / num_records_, first % num_records_};
    cursor_->SeekToFirst();
    if (!options_.shuffle && num_records_ > 0) AdvanceCursor(at_.record);
    return;
  }
  if (options_.shuffle) {
    CheckShard(num_records_);
    return;
  }
  cursor_->SeekToFirst();
  for (int i = 0; i < options_.shard_id; ++i) {
    if (cursor_->Valid()) cursor_->Next();
    if (!cursor_->Valid()) CheckShard(i + 1);
  }
}

void RecordSource::CheckShard(int64_t count) const {
  CAFFE_ENFORCE(options_.shard_id == 0 || count > options_.shard_id, "the database has ",
                CountText(count, "record"), ", want more than ", options_.shard_id,
                ": the shard id");
}

RecordPlace RecordSource::Place() {
  RecordPlace place{.position = at_, .key = {}};
  if (!damage_behind_.empty() || IsEmpty()) return place;
  try {
    if (options_.shuffle) GoToShuffled();
    place.key = cursor_->key();
    if (cursor_->SupportsOffsets()) place.offset = cursor_->Offset();
  } catch (const OutOfMemory&) {
    throw;
  } catch (const EnforceNotMet&) {
    cursor_is_at_ = false;  // the next Read throws it, in its place
    place.key.clear();
  }
  return place;
}

void RecordSource::GoTo(const RecordPlace& place) {
  damage_behind_.clear();
  try {
    MoveTo(place);
    CheckIsAt(place);
  } catch (const OutOfMemory&) {
    damage_behind_ = "the reader has lost its position, because memory ran out";
    throw;
  } catch (const EnforceNotMet& error) {
    damage_behind_ = error.message();  // nothing is read from another place
    throw;
  }
}

void RecordSource::MoveTo(const RecordPlace& place) {
  const DBReaderPosition& position = place.position;
  const int64_t records = options_.shuffle ? ShardSize(num_records_, options_) : INT64_MAX;
  CAFFE_ENFORCE(position.epoch >= 0 && position.epoch < INT64_MAX / 2 && position.record >= 0 &&
                    (position.record < records || position.record == 0),
                "a reader stood at record ", position.record, " of epoch ", position.epoch, " of ",
                name_, ": there is no such record");
  at_ = position;
  cursor_is_at_ = false;
  if (options_.shuffle) return;
  if (place.offset >= 0 && cursor_->SupportsOffsets()) {
    cursor_->SeekToOffset(place.offset);
  } else if (!place.key.empty() && cursor_->SupportsSeek()) {
    cursor_->Seek(place.key);
  } else if (options_.block > 0) {
    cursor_->SeekToFirst();
    AdvanceCursor(position.record);
  } else {
    MoveToBeginning();
    Skip(position.record);
  }
}

void RecordSource::CheckIsAt(const RecordPlace& place) {
  if (!damage_behind_.empty()) return;
  const bool is_first = place.key.empty() && place.position.record == 0;  // perhaps of none
  if (is_first || (options_.shuffle && place.key.empty())) return;
  if (options_.shuffle && !IsEmpty()) GoToShuffled();
  const std::string key = cursor_->Valid() && !IsEmpty() ? cursor_->key() : std::string();
  const bool is_there = place.key.empty() ? cursor_->Valid() : key == place.key;
  CAFFE_ENFORCE(is_there, "a reader stood at record ", place.position.record, " of ", name_,
                ", with the key \"", Shortened(place.key), "\"; ",
                key.empty() ? "there is no such record"
                            : MakeString("the record there has the key \"", Shortened(key), "\""),
                ": the database has changed");
}

// Damage on the way is reported by the next Read.
void RecordSource::Skip(int64_t records) {
  try {
    for (int64_t i = 0; i < records && cursor_->Valid(); ++i) {
      for (int shard = 0; shard < options_.num_shards && cursor_->Valid(); ++shard) cursor_->Next();
    }
  } catch (const OutOfMemory&) {
    throw;
  } catch (const EnforceNotMet& error) {
    damage_behind_ = MakeString("before record ", at_.record, " of ", name_, ": ", error.message());
  }
}

bool RecordSource::GoToKey(const std::string& key) {
  if (cursor_->SupportsSeek()) {
    cursor_->Seek(key);
    return true;
  }
  for (; cursor_->Valid(); cursor_->Next(), ++at_.record) {
    if (cursor_->key() == key) return true;
  }
  return false;
}

bool RecordSource::CanReturn() { return CanSeek(cursor_.get()); }

int64_t RecordSource::NumRecords() { return ShardSize(NumRecordsOfAllShards(), options_); }

int64_t RecordSource::NumRecordsOfAllShards() {
  if (num_records_ < 0) {
    CAFFE_ENFORCE(CanSeek(cursor_.get()), "cannot count the records of ", name_,
                  ": its cursors cannot seek");
    MakeIndex(false);
  }
  return num_records_;
}

void RecordSource::MakeIndex(bool with_places) {
  const std::unique_ptr<Cursor> cursor = db_->NewCursor();
  int64_t count = 0;  // with the one at which the cursor stands
  std::string before;
  try {
    for (cursor->SeekToFirst(); cursor->Valid(); cursor->Next()) {
      if (with_places) {
        before = cursor->key();
        if (cursor->SupportsOffsets()) {
          offsets_.push_back(cursor->Offset());
        } else {
          keys_ += before;
          key_ends_.push_back(keys_.size());
        }
      }
      ++count;
    }
  } catch (EnforceNotMet& error) {
    error.AppendMessage(MakeString("counting the records of ", name_, ", behind record ", count - 1,
                                   " \"", Shortened(before), "\""));
    throw;
  }
  num_records_ = count;
}

void RecordSource::GoToShuffled() {
  if (cursor_is_at_) return;
  if (order_epoch_ != at_.epoch) {
    order_ =
        ShuffledOrder(num_records_, static_cast<uint32_t>(MixRandomKeys(
                                        options_.shuffle_seed, static_cast<uint64_t>(at_.epoch))));
    order_epoch_ = at_.epoch;
  }
  const auto record = static_cast<size_t>(
      order_[static_cast<size_t>(options_.block > 0 ? at_.record
                                                    : options_.shard_id +
                                                          at_.record * options_.num_shards)]);
  if (!offsets_.empty()) {
    cursor_->SeekToOffset(offsets_[record]);
  } else {
    const size_t begin = record == 0 ? 0 : key_ends_[record - 1];
    const std::string key = keys_.substr(begin, key_ends_[record] - begin);
    cursor_->Seek(key);
    CAFFE_ENFORCE(cursor_->Valid() && cursor_->key() == key, "record \"", Shortened(key),
                  "\" is no longer found");
  }
  cursor_is_at_ = true;
}

}  // namespace internal
}  // namespace db
}  // namespace caffe2rt
