#pragma once
// Operators that read and write files: Load, Save, Checkpoint, Snapshot, DBExists, CreateDB.

namespace caffe2rt {

void RegisterIoOperators();

// One for each file.
void RegisterCheckpoint();
void RegisterCreateDB();
void RegisterDBExists();
void RegisterLoad();
void RegisterSave();

}  // namespace caffe2rt
