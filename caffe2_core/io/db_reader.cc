// DBReader and RecordsAhead.
#include <new>
#include <utility>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/logging.h"
#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/base/mutex.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/base/utf8.h"
#include "caffe2_core/io/db.h"
#include "caffe2_core/io/proto_file.h"
#include "caffe2_core/io/record_source.h"
#include "caffe2_core/io/records_ahead.h"
#include "caffe2rt/db_reader.pb.h"

namespace caffe2rt {
namespace db {
namespace internal {

// The state of a DBReader, which those who read ahead share.
struct ReaderState {
  Mutex mutex;
  // Null when the DBReader has been destroyed or opened again.
  std::unique_ptr<RecordSource> source ABSL_GUARDED_BY(mutex);
  // Who reads ahead, or null. If it is set, `handed_out` is the position of the reader; otherwise
  // that is the position of the source.
  const RecordsAhead* ahead ABSL_GUARDED_BY(mutex) = nullptr;
  RecordPlace handed_out ABSL_GUARDED_BY(mutex);
  // Records have been read, but not handed out.
  bool has_unused ABSL_GUARDED_BY(mutex) = false;
  // Others have read while somebody read ahead.
  bool is_shared ABSL_GUARDED_BY(mutex) = false;

  // Returns the source, at the position of the reader. What others have read ahead is void.
  RecordSource& SourceFor(const RecordsAhead* reader) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    CAFFE_ENFORCE(source != nullptr, "the reader of the database has been closed");
    if (ahead != nullptr) {
      if (ahead != reader) is_shared = true;
      ahead = nullptr;
      if (std::exchange(has_unused, false)) source->GoTo(handed_out);
    }
    return *source;
  }
  RecordPlace Place() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    return ahead != nullptr ? handed_out : source->Place();
  }
};

}  // namespace internal

namespace {

// The messages of both types have the same fields, as far as the other type knows them.
template <class To, class From>
To Converted(const From& from) {
  To to;
  CAFFE_ENFORCE(ParseProtoFromLargeString(ProtoToBinary(from), &to),
                "the state of a reader of a database cannot be parsed");
  return to;
}

}  // namespace

DBReader::DBReader(const DBReaderProto& proto) try {
  const auto state = Converted<DBReaderState>(proto);
  Open(proto.db_type(), proto.source(),
       DBReaderOptions{.num_shards = state.num_shards(),
                       .shard_id = state.shard_id(),
                       .shuffle = state.shuffle(),
                       .shuffle_seed = state.shuffle_seed(),
                       .block = state.block()});
  const MutexLock lock(state_->mutex);
  internal::RecordSource& source = *state_->source;
  if (state.has_record()) {
    CAFFE_ENFORCE(!state.has_num_records() || source.NumRecordsOfAllShards() == state.num_records(),
                  "reader \"", proto.name(), "\" read database \"", proto.source(), "\" with ",
                  CountText(state.num_records(), "record"), " in a shuffled order, which has ",
                  CountText(source.NumRecordsOfAllShards(), "record"),
                  " now: the order is another one");
    source.GoTo({.position = {state.epoch(), state.record()}, .key = proto.key()});
  } else if (proto.has_key()) {
    CAFFE_ENFORCE(source.GoToKey(proto.key()), "reader \"", proto.name(),
                  "\" stood at the record with the key \"", Shortened(proto.key()),
                  "\", which database \"", proto.source(), "\" of type ", proto.db_type(),
                  " does not contain");
  }
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

void DBReader::Open(const std::string& type, const std::string& source,
                    const DBReaderOptions& options) try {
  Close();
  type_ = type;
  source_ = source;
  Start(OpenDB(type, source, READ), options);
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

void DBReader::Open(std::unique_ptr<DB>&& db, const DBReaderOptions& options) try {
  CAFFE_ENFORCE(db != nullptr, "a DBReader needs a database, got null");
  Close();
  type_.clear();
  source_.clear();
  Start(std::move(db), options);
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

void DBReader::Start(std::unique_ptr<DB> db, const DBReaderOptions& options) {
  auto state = std::make_shared<internal::ReaderState>();
  {
    const MutexLock lock(state->mutex);
    state->source = std::make_unique<internal::RecordSource>(
        std::move(db), options,
        type_.empty() ? std::string("the reader's database")
                      : MakeString("database \"", source_, "\" of type ", type_));
  }
  state_ = std::move(state);
}

void DBReader::Close() noexcept {
  if (state_ == nullptr) return;
  {
    // Those who read ahead may keep the state. The database is closed now.
    const MutexLock lock(state_->mutex);
    state_->source.reset();
    state_->ahead = nullptr;
  }
  state_.reset();
}

internal::ReaderState& DBReader::State() const {
  CAFFE_ENFORCE(state_ != nullptr, "Reader not initialized.");
  return *state_;
}

void DBReader::Read(std::string* key, std::string* value) const {
  CAFFE_ENFORCE(key != nullptr && value != nullptr, "argument key or value of Read is null");
  DBRecord record;
  Read(&record);
  *key = std::move(record.key);
  *value = std::move(record.value);
}

void DBReader::Read(DBRecord* record) const try {
  CAFFE_ENFORCE(record != nullptr, "argument record of Read is null");
  internal::ReaderState& state = State();
  const MutexLock lock(state.mutex);
  state.SourceFor(nullptr).Read(record);
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

void DBReader::SeekToFirst() const try {
  internal::ReaderState& state = State();
  const MutexLock lock(state.mutex);
  state.SourceFor(nullptr).SeekToFirst();
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

Cursor* DBReader::cursor() const {
  if (state_ == nullptr) return nullptr;
  const MutexLock lock(state_->mutex);
  internal::RecordSource& source = state_->SourceFor(nullptr);
  state_->is_shared = true;
  return source.cursor();
}

DBReaderPosition DBReader::position() const {
  internal::ReaderState& state = State();
  const MutexLock lock(state.mutex);
  return state.ahead != nullptr ? state.handed_out.position : state.source->position();
}

int64_t DBReader::NumRecords() const try {
  internal::ReaderState& state = State();
  const MutexLock lock(state.mutex);
  return state.source->NumRecords();
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

DBReaderProto DBReader::ToProto(const std::string& name) const try {
  DBReaderState proto;
  proto.set_name(name);
  proto.set_source(source_);
  proto.set_db_type(type_);
  // A DB without a name cannot be opened again, and a queue would wait for its next record.
  if (state_ != nullptr && !type_.empty()) {
    const MutexLock lock(state_->mutex);
    const RecordPlace place = state_->Place();
    const DBReaderOptions& options = state_->source->options();
    if (!place.key.empty()) proto.set_key(place.key);
    proto.set_num_shards(options.num_shards);
    proto.set_shard_id(options.shard_id);
    proto.set_epoch(place.position.epoch);
    proto.set_record(place.position.record);
    if (options.block > 0) proto.set_block(options.block);
    if (options.shuffle) {
      proto.set_shuffle(true);
      proto.set_shuffle_seed(options.shuffle_seed);
      proto.set_num_records(state_->source->NumRecordsOfAllShards());
    }
  }
  return Converted<DBReaderProto>(proto);
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

bool RecordsAhead::IsAttachedTo(const DBReader& reader) const {
  return state_ != nullptr && state_ == reader.state_;
}

void RecordsAhead::Attach(const DBReader& reader) {
  Release();
  (void)reader.State();
  state_ = reader.state_;
}

void RecordsAhead::Release() noexcept {
  if (state_ == nullptr) return;
  try {
    const MutexLock lock(state_->mutex);
    if (state_->ahead == this) (void)state_->SourceFor(this);
  } catch (...) {
    LOG(ERROR) << "cannot put records back that were read ahead: " << CurrentExceptionMessage();
  }
  state_.reset();
}

bool RecordsAhead::Begin() {
  const MutexLock lock(state_->mutex);
  if (state_->source == nullptr || state_->is_shared) return false;
  if (state_->ahead == this) {
    if (!state_->has_unused) return true;
    (void)state_->SourceFor(this);
  }
  if (state_->ahead != nullptr || !state_->source->CanReturn()) return false;
  state_->handed_out = state_->source->Place();
  state_->ahead = this;
  return true;
}

bool RecordsAhead::Read(DBRecord* record) {
  const MutexLock lock(state_->mutex);
  if (state_->ahead != this) return false;
  state_->has_unused = true;
  state_->source->Read(record);
  return true;
}

void RecordsAhead::End(RecordPlace* end) {
  const MutexLock lock(state_->mutex);
  if (state_->ahead == this) *end = state_->source->Place();
}

bool RecordsAhead::HandOut(RecordPlace* end) {
  const MutexLock lock(state_->mutex);
  if (state_->ahead != this) return false;
  std::swap(state_->handed_out, *end);
  state_->has_unused = false;
  return true;
}

void RecordsAhead::ReadNow(DBRecord* record) {
  const MutexLock lock(state_->mutex);
  state_->SourceFor(this).Read(record);
}

DBReaderPosition RecordsAhead::position() {
  const MutexLock lock(state_->mutex);
  return state_->source != nullptr ? state_->source->position() : DBReaderPosition{};
}

}  // namespace db
}  // namespace caffe2rt
