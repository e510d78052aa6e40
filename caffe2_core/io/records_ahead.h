#pragma once
// RecordsAhead: reads the records of a DBReader ahead of their use, so that the reader's position
// remains that of the records that were handed out.
//
//   RecordsAhead ahead;
//   ahead.Attach(reader);
//   if (ahead.Begin()) {
//     while (more && ahead.Read(&record)) { ... }    // on any thread
//     RecordPlace end;
//     ahead.End(&end);
//     if (ahead.HandOut(&end)) Use(records);         // otherwise they must be read again
//   } else {
//     while (more) ahead.ReadNow(&record);
//   }
//
// At most one object reads ahead on a reader. When anybody else reads from the reader or moves it,
// it returns to the position after the records that were handed out, what was read ahead is void,
// and from then on nobody reads ahead on it: readers that take turns would read each record twice.

#include <memory>
#include <string>

#include "caffe2_core/io/db.h"

#pragma GCC visibility push(default)
namespace caffe2rt {
namespace db {

// The place of a record in its database.
struct RecordPlace {
  DBReaderPosition position;
  std::string key;      // empty: not known
  int64_t offset = -1;  // Cursor::Offset(), or -1
};

// Read may run on another thread than the other members, but not at the same time as Attach and
// Release.
class RecordsAhead {
 public:
  RecordsAhead() = default;
  ~RecordsAhead() { Release(); }
  RecordsAhead(const RecordsAhead&) = delete;
  RecordsAhead& operator=(const RecordsAhead&) = delete;

  // Whether this object reads from `reader`, and the reader has not been opened again since Attach.
  bool IsAttachedTo(const DBReader& reader) const;
  // THROWS if the reader is not open. The reader may be destroyed: there is nothing to read then.
  void Attach(const DBReader& reader);
  // Puts records that were read ahead, but not handed out, back, and detaches from the reader.
  void Release() noexcept;

  // Returns whether records may be read ahead: the database can return to a record, and nobody else
  // uses the reader. Puts back what was read ahead, but not handed out.
  bool Begin();
  // Reads the next record. Returns false, and reads nothing, if what has been read ahead is void.
  // THROWS as DBReader::Read.
  bool Read(DBRecord* record);
  // Sets `end` to the place behind the records that were read.
  void End(RecordPlace* end);
  // Makes `end` the position of the reader, and sets `end` to the one before. Returns false if what
  // has been read ahead is void.
  bool HandOut(RecordPlace* end);
  // Reads and hands out the next record.
  void ReadNow(DBRecord* record);
  // Of the next record that this object reads.
  DBReaderPosition position();

 private:
  std::shared_ptr<internal::ReaderState> state_;  // shared with the DBReader
};

}  // namespace db
}  // namespace caffe2rt
#pragma GCC visibility pop
