#pragma once
// ReadsUnlisted: a second base class of operators that use blobs beside their inputs and outputs
// (OpSchema::AccessesUnlistedBlobs), and whose runs only read them. What such a blob holds was decided when
// the operator was created, so that a run more or less changes nothing (model/rehearsal.h).

#pragma GCC visibility push(default)
namespace caffe2rt {

class ReadsUnlisted {
 public:
  virtual ~ReadsUnlisted() = default;
};

}  // namespace caffe2rt
#pragma GCC visibility pop
