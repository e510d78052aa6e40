#pragma once
// The named workspaces of the front end, of which one is current.
//
// All functions REQUIRE the interpreter's lock, which also guards the table.

#include <nanobind/nanobind.h>

#include <memory>
#include <string>

#include "caffe2_core/runtime/workspace.h"

namespace caffe2rt {

// A workspace that Python shares with the table and with runs in the background. It outlives its
// children.
struct FrontendWorkspace {
  std::shared_ptr<Workspace> shared;
  Workspace* operator->() const { return shared.get(); }
};

// The workspace that the functions of the module use. THROWS if there is none, after
// on_module_exit.
const FrontendWorkspace& CurrentWorkspace();
FrontendWorkspace NewWorkspace(const std::string& root_folder);
// A workspace that sees the blobs of `parent`.
FrontendWorkspace NewChildWorkspace(const FrontendWorkspace& parent);

// The workspace with its owner, if Python created it. Otherwise, as for the workspace of a step of a
// plan, it is not owned: the result is valid while its operator runs.
FrontendWorkspace SharedWorkspace(Workspace* ws);

// The blob. THROWS if the workspace has none of that name.
std::shared_ptr<Blob> BlobOf(const Workspace& ws, const std::string& name);
// FeedBlob of the front end: an array, or bytes or str. Returns true.
bool FeedBlob(nanobind::handle value, nanobind::handle device_option, Blob* blob);

void BindFrontendWorkspaces(nanobind::module_& m);
// Nets, plans and runs of the current workspace, and of the class Workspace.
void BindFrontendNets(nanobind::module_& m, nanobind::class_<FrontendWorkspace>& workspace);
// Stops the plans that run in the background, and waits for them.
void StopBackgroundPlans();

}  // namespace caffe2rt
