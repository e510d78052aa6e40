#pragma once
// Faults of the original that follow from an operator's arguments and inputs. Cases that were
// recorded with such a fault contain wrong values, whatever their id.

#include <string>

#include "caffe2rt/caffe2.pb.h"
#include "oracle.pb.h"

namespace caffe2rt::test {

// Returns what is wrong with the record of a case, or "".
std::string FaultOfRecord(const oracle::OperatorCase& recorded, const OperatorDef& def);

}  // namespace caffe2rt::test
