// Devices that are loaded on demand, as in a user's program. Each test has its own device type,
// because a process loads a module only once.
#include "caffe2_core/device/device_module.h"

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <thread>

#include "caffe2_core/model/device_placement.h"
#include "caffe2_core/runtime/init.h"
#include "caffe2_core/runtime/workspace.h"
#include "tests/caffe2_core/device/host_device.h"
#include "tests/support/elf_file.h"
#include "tests/support/operator_test.h"
#include "tests/support/shared.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::device_module_test {
namespace {

using test::ExpectThrows;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string ModuleFile(const std::string& name) {
  return test::BuildPath("lib/libcaffe2_" + name + ".so");
}

DeviceType Register(DeviceDescriptor descriptor) {
  const DeviceType type = descriptor.type;
  RegisterDeviceDescriptor(std::move(descriptor));
  return type;
}

DeviceType Number(int number) { return static_cast<DeviceType>(number); }

float RunHostScale(DeviceType type, const std::string& engine = "") {
  Workspace ws;
  test::Feed<float>(&ws, "x", {1}, {5});
  OperatorDef def = test::ParseOp(R"(type: "HostScale" input: "x" output: "y")");
  def.mutable_device_option()->set_device_type(type);
  def.set_engine(engine);
  EXPECT_TRUE(ws.RunOperatorOnce(def));
  return ws.GetBlob("y")->Get<Tensor>().data<float>()[0];
}

int g_level = 1;
std::vector<Flag> Flags() {
  return {FlagOf("device_module_test_level", &g_level, "of the test", __FILE__)};
}

TEST(DeviceModuleTest, IsLoadedFromTheFileThatTheEnvironmentNamesWhenTheDeviceIsAskedFor) {
  setenv("CAFFE2_ABACUS_MODULE", ModuleFile("host_device_test").c_str(), 1);
  const DeviceType type = Register({.type = Number(20),
                                    .name = "ABACUS",
                                    .aliases = {"beads"},
                                    .engines = {"TRIPLE"},
                                    .flags = Flags});
  GlobalInit();
  EXPECT_THAT(RegisteredDeviceTypes(), Not(Contains(type)));
  EXPECT_EQ(DeviceTypeName(type), "ABACUS");
  SetFlag("device_module_test_level", "7");
  ExpectThrows([] { SetFlag("device_module_test_level", "high"); }, "not an integer");
  EXPECT_EQ(g_level, 1);  // the value is kept until the module is loaded

  EXPECT_TRUE(HasOperator(type, "HostScale"));
  EXPECT_EQ(g_level, 7);
  // Registering operators starts no device.
  EXPECT_THAT(RegisteredDeviceTypes(), Not(Contains(type)));
  EXPECT_NE(GetStaticContext(type), nullptr);
  EXPECT_THAT(RegisteredDeviceTypes(), Contains(type));
  const DevicePresence& presence = FindDevice(type);
  EXPECT_EQ(presence.state, DeviceState::kReady);
  EXPECT_EQ(presence.devices, 1);
  EXPECT_EQ(presence.message, "a note");
  EXPECT_EQ(presence.path, ModuleFile("host_device_test"));

  DeviceOption option;
  EXPECT_TRUE(ParseDevice("beads:0", &option));
  EXPECT_EQ(option.device_type(), type);
  EXPECT_EQ(RunHostScale(type), 15);  // the descriptor's engine takes precedence over the default
  EXPECT_EQ(RunHostScale(type, "DEFAULT"), 10);
  SetGlobalEnginePref({{CPU, {"TRIPLE"}}});
  EXPECT_EQ(RunHostScale(type), 10);
  EXPECT_EQ(RunHostScale(type, "TRIPLE"), 15);
}

TEST(DeviceModuleTest, IsFoundBesideTheProgramOrInTheLibraryFolder) {
  const DeviceType type = Register({.type = Number(21), .name = "Ledger"});
  const DeviceModule& module = EnforceDeviceModule(type);
  EXPECT_EQ(FindDevice(type).path, ModuleFile("ledger"));
  EXPECT_EQ(RunHostScale(type), 10);
  ASSERT_EQ(module.describe().devices.size(), 1u);
  EXPECT_EQ(module.describe().devices[0].name, "host memory");
  EXPECT_EQ(*static_cast<const int*>(module.extension("sevens")), 7);
  EXPECT_EQ(module.extension("eights"), nullptr);
}

TEST(DeviceModuleTest, ReportsWhereItSearched) {
  const DeviceType type = Register({.type = Number(22), .name = "ABSENT", .in_this_build = false});
  EXPECT_EQ(LoadDeviceModule(type), nullptr);
  const DevicePresence& presence = FindDevice(type);
  EXPECT_EQ(presence.state, DeviceState::kNoModule);
  EXPECT_THAT(presence.message,
              StartsWith("ABSENT: not in this build; libcaffe2_absent.so is not in /"));
  EXPECT_THAT(presence.message, HasSubstr(test::BuildPath("lib")));
  EXPECT_THAT(presence.message,
              HasSubstr(" or in the loader's search path; set CAFFE2_ABSENT_MODULE to its path"));
  EXPECT_EQ(FindStaticContext(type), nullptr);
  ExpectThrows([type] { GetStaticContext(type); }, presence.message + "; run on the CPU");
  ExpectThrows([type] { EnforceDeviceModule(type); }, presence.message + "; run on the CPU");
  // The reason is remembered; loading is not attempted again.
  setenv("CAFFE2_ABSENT_MODULE", ModuleFile("ledger").c_str(), 1);
  EXPECT_EQ(FindDevice(type).state, DeviceState::kNoModule);
}

TEST(DeviceModuleTest, ReportsWhereItSearchedForAModuleOfThisBuild) {
  setenv("CAFFE2_LOST_MODULE", "", 1);  // names no file
  const DeviceType type =
      Register({.type = Number(23), .name = "LOST", .module_file = "liblost.so.4"});
  EXPECT_THAT(FindDevice(type).message, StartsWith("LOST: liblost.so.4 is not in /"));
}

TEST(DeviceModuleTest, SearchesNoOtherFileThanTheEnvironmentNames) {
  setenv("CAFFE2_SCRIBE_MODULE", "/no/such/module.so", 1);
  const DeviceType type =
      Register({.type = Number(24), .name = "SCRIBE", .module_file = "libcaffe2_scribe.so"});
  EXPECT_EQ(FindDevice(type).state, DeviceState::kBroken);
  EXPECT_EQ(FindDevice(type).path, "/no/such/module.so");
  EXPECT_EQ(FindDevice(type).message,
            "SCRIBE: cannot load \"/no/such/module.so\": /no/such/module.so: cannot open shared "
            "object file: No such file or directory");
}

// A copy of a module that needs a function which there is not.
TEST(DeviceModuleTest, ExplainsSymbolsThatTheProgramLacks) {
  const test::TempDir dir;
  std::ifstream file(ModuleFile("ledger"), std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  const std::string name = "_ZN8caffe2rt11BaseContext17CopyBytesToDevic";
  const size_t at = bytes.find(name);
  ASSERT_NE(at, std::string::npos);
  bytes[at + name.size()] = 'q';
  const std::string path = dir.Write("libcaffe2_smith.so", bytes);
  setenv("CAFFE2_SMITH_MODULE", path.c_str(), 1);
  const DeviceType type =
      Register({.type = Number(14), .name = "SMITH", .module_file = "libcaffe2_smith.so"});
  EXPECT_EQ(FindDevice(type).state, DeviceState::kBroken);
  const std::string message = FindDevice(type).message;
  EXPECT_THAT(message, StartsWith("SMITH: cannot load \"" + path + "\": "));
  EXPECT_THAT(message, HasSubstr("undefined symbol: " + name + "q"));
  EXPECT_TRUE(message.ends_with(
      "; the program must export all symbols of the static library, or use the shared library"))
      << message;
}

// A copy of a module with another name in its list of needed libraries.
TEST(DeviceModuleTest, NamesTheLibraryThatAModuleLacks) {
  const test::TempDir dir;
  std::ifstream file(ModuleFile("ledger"), std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  const size_t needed = bytes.find(std::string("\0libc.so.", 9));
  ASSERT_NE(needed, std::string::npos);
  bytes[needed + 4] = 'q';
  dir.Write("libcaffe2_mason.so", bytes);
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(dir.path());
  // The loader finds this path, which is relative; there is no such file beside the program.
  const DeviceType type =
      Register({.type = Number(15), .name = "MASON", .module_file = "./libcaffe2_mason.so"});
  EXPECT_EQ(FindDevice(type).state, DeviceState::kBroken);
  EXPECT_THAT(FindDevice(type).message, StartsWith("MASON: cannot load libq.so."));
  std::filesystem::current_path(before);
}

TEST(DeviceModuleTest, RejectsAModuleThatNeedsAnotherLibcaffe2rt) {
  const test::TempDir dir;
  const std::string module =
      dir.Write("libcaffe2_tally.so", test::ElfFile({.needed = {"libcaffe2rt.so.9.9"}}));
  setenv("CAFFE2_TALLY_MODULE", module.c_str(), 1);
  const DeviceType type = Register({.type = Number(18), .name = "TALLY"});
  EXPECT_EQ(FindDevice(type).state, DeviceState::kBroken);
  EXPECT_THAT(FindDevice(type).message,
              StartsWith("TALLY: module \"" + module + "\" links \"libcaffe2rt.so.9.9\", which"));
}

TEST(DeviceModuleTest, RejectsALibraryOfAnotherDevice) {
  setenv("CAFFE2_QUIPU_MODULE", ModuleFile("ledger").c_str(), 1);
  const DeviceType type = Register({.type = Number(25), .name = "QUIPU"});
  EXPECT_EQ(FindDevice(type).state, DeviceState::kBroken);
  EXPECT_THAT(FindDevice(type).message, HasSubstr("QUIPU: \"" + ModuleFile("ledger") +
                                                  "\" does not export caffe2rt_quipu_module: "
                                                  "it is not libcaffe2_quipu"));
  EXPECT_EQ(FindStaticContext(type), nullptr);
}

const DeviceModule* OtherVersion() {
  static const DeviceModule module = {.interface = kDeviceModuleInterface + 1,
                                      .register_context = test::RegisterHostContext<26>};
  return &module;
}
TEST(DeviceModuleTest, RejectsAModuleOfAnotherVersion) {
  const DeviceType type = Register({.type = Number(26), .name = "NEWER", .linked = OtherVersion});
  EXPECT_EQ(FindStaticContext(type), nullptr);
  EXPECT_EQ(FindDevice(type).state, DeviceState::kBroken);
  EXPECT_THAT(FindDevice(type).message, HasSubstr("built with another version of this library"));
}

const DeviceModule* WithoutContext() {
  static const DeviceModule module;
  return &module;
}
TEST(DeviceModuleTest, RejectsAModuleThatRegistersNoContext) {
  const DeviceType type = Register({.type = Number(27), .name = "EMPTY", .linked = WithoutContext});
  EXPECT_THAT(FindDevice(type).message, HasSubstr("no function that registers its context"));
}

const DeviceModule* ReadyWithoutContext() {
  static const DeviceModule module = {.register_context = [] {
    return DevicePresence{DeviceState::kReady, 1, "a note", ""};
  }};
  return &module;
}
TEST(DeviceModuleTest, RejectsAModuleThatIsReadyWithoutAContext) {
  const DeviceType type =
      Register({.type = Number(16), .name = "HOLLOW", .linked = ReadyWithoutContext});
  EXPECT_EQ(FindDevice(type).state, DeviceState::kBroken);
  EXPECT_THAT(FindDevice(type).message, HasSubstr("did not register a context"));
  EXPECT_EQ(FindStaticContext(type), nullptr);
  ExpectThrows([&] { GetStaticContext(type); }, "did not register a context");
}

const DeviceModule* Fails() {
  static const DeviceModule module = {
      .register_operators = test::RegisterHostOperators<28>,
      .register_context = []() -> DevicePresence { throw std::runtime_error("no power"); }};
  return &module;
}
TEST(DeviceModuleTest, WhatAModuleThrowsIsTheReason) {
  const DeviceType type = Register({.type = Number(28), .name = "WEAK", .linked = Fails});
  EXPECT_NE(LoadDeviceModule(type), nullptr);
  EXPECT_EQ(FindDevice(type).message, "WEAK: cannot start: no power");
  EXPECT_EQ(FindDevice(type).state, DeviceState::kBroken);
  EXPECT_EQ(LoadDeviceModule(type), nullptr);
}

const DeviceModule* Idle() {
  static const DeviceModule module = {
      .register_operators = test::RegisterHostOperators<29>, .register_context = [] {
        return DevicePresence{DeviceState::kNoDevice, 0, "IDLE: no device", ""};
      }};
  return &module;
}
TEST(DeviceModuleTest, OperatorsAreKnownWithoutADevice) {
  const DeviceType type = Register({.type = Number(29), .name = "IDLE", .linked = Idle});
  EXPECT_TRUE(HasOperator(type, "HostScale"));
  EXPECT_THAT(RegisteredOperatorTypes(type), Contains("HostScale"));
  EXPECT_EQ(FindStaticContext(type), nullptr);
  EXPECT_EQ(FindDevice(type).state, DeviceState::kNoDevice);
  ExpectThrows([type] { EnforceDeviceModule(type); }, "IDLE: no device; run on the CPU");
}

TEST(DeviceModuleTest, ADeviceThatTheProgramRegisteredNeedsNoModule) {
  RegisterStaticContext(Number(30), "OWN", &test::HostStaticContext<30>::Get());
  const DeviceType type = Register({.type = Number(30), .name = "OWN"});
  EXPECT_EQ(LoadDeviceModule(type), nullptr);
  EXPECT_EQ(FindDevice(type).state, DeviceState::kReady);
  EXPECT_EQ(FindStaticContext(type), &test::HostStaticContext<30>::Get());
  ExpectThrows([type] { EnforceDeviceModule(type); },
               "OWN: this program registered the device itself and did not load libcaffe2_own");
}

TEST(DeviceModuleTest, ADeviceWithoutADescriptorHasNoModule) {
  EXPECT_EQ(LoadDeviceModule(CPU), nullptr);
  EXPECT_EQ(FindDevice(CPU).state, DeviceState::kReady);
  EXPECT_EQ(FindDevice(MKLDNN).state, DeviceState::kNoModule);
  ExpectThrows([] { EnforceDeviceModule(MKLDNN); }, "device MKLDNN has no module");
  ExpectThrows([] { GetStaticContext(MKLDNN); }, "load the module that provides it");
}

std::atomic<int> g_loads{0}, g_starts{0};
const DeviceModule* Linked() {
  static const DeviceModule module = {
      .register_operators =
          [] {
            ++g_loads;
            EXPECT_FALSE(HasOperator(Number(31), "HostScale"));  // look-ups are allowed
            EXPECT_EQ(FindStaticContext(Number(31)), nullptr);
            test::RegisterHostOperators<31>();
          },
      .register_context =
          [] {
            ++g_starts;
            return test::RegisterHostContext<31>();
          }};
  return &module;
}
TEST(DeviceModuleTest, ThreadsThatAskAtOnceLoadItOnce) {
  const DeviceType type = Register({.type = Number(31), .name = "LINKED", .linked = Linked});
  std::vector<std::thread> threads;
  std::atomic<int> found{0};
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      if (FindStaticContext(type) == &test::HostStaticContext<31>::Get()) ++found;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(found, 4);
  EXPECT_EQ(g_loads, 1);
  EXPECT_EQ(g_starts, 1);
  EXPECT_EQ(FindDevice(type).path, "");
}

TEST(DeviceModuleTest, AFlagThatDoesNotFitMakesTheModuleUnusable) {
  const DeviceType type =
      Register({.type = Number(19), .name = "STRICT", .linked = test::HostModule<19>, .flags = [] {
                  return std::vector<Flag>{
                      {{"device_module_test_strict", "string", "", "", __FILE__},
                       [](const std::string& text) { CAFFE_THROW("\"", text, "\" is too loud"); }}};
                }});
  for (Flag& flag : FindDeviceDescriptor(type)->flags()) RegisterDeferredFlag(flag.info);
  SetFlag("device_module_test_strict", "shout");
  EXPECT_EQ(FindDevice(type).message, "flag --device_module_test_strict: \"shout\" is too loud");
  EXPECT_EQ(FindDevice(type).state, DeviceState::kBroken);
}

}  // namespace
}  // namespace caffe2rt::device_module_test
