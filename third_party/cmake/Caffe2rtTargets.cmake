# Flags shared by every target, and the functions the folders use.
#
#   caffe2rt_folder(KIND)                           what the sources of this folder are
#   caffe2rt_sources(a.cc b.cc)                     adds sources of this folder to libcaffe2rt
#   caffe2rt_source_options("-f...;-f..." a.cc)     options for some of them
#   caffe2rt_link_all(target)                       links all of libcaffe2rt into a program
#   caffe2rt_test(name SOURCES a_test.cc ... [LIBS ...] [LABELS ...] [COST n] [APART]
#                [INSTRUMENTED] [THREADS] [THREAD_TESTS filter])   a GoogleTest program and its tests
#   caffe2rt_test_headers(target)                   precompiles the headers that test programs share
#   caffe2rt_fast_to_sanitize(target)               compiles a target without the optimiser in a sanitizer build
#   caffe2rt_program_code(target)                   the same, and with -O1 in a release build
add_library(caffe2rt_flags INTERFACE)
# Flags of C++ sources; those of CUDA are caffe2rt_cuda_flags.
target_compile_options(caffe2rt_flags INTERFACE -Wall -Wextra $<$<BOOL:${CAFFE2RT_WERROR}>:-Werror>)
# Members that a mutex guards are accessed under its lock (caffe2_core/base/mutex.h).
target_compile_options(caffe2rt_flags INTERFACE
  "$<$<CXX_COMPILER_ID:Clang,AppleClang>:-Wthread-safety;-Wthread-safety-beta>")
# g++ 12 warns of overlapping and out-of-bounds memory inside std::string and std::vector, where nothing is wrong (GCC bugs
# 105651 and 105329).
target_compile_options(caffe2rt_flags INTERFACE
  "$<$<CXX_COMPILER_ID:GNU>:-Wno-restrict;-Wno-array-bounds;-Wno-stringop-overflow;-Wno-stringop-overread>")
# g++ collects its garbage from 512 MiB on instead of 128, which saves a tenth of its time.
add_compile_options("$<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-heapsize=524288>")
# Nothing reads errno after a function of <cmath>; with errno, loops that take a square root are not vectorised.
target_compile_options(caffe2rt_flags INTERFACE -fno-math-errno)
# nvcc hands its own flags' warnings to its parts; -Wpedantic is impossible through it.
add_library(caffe2rt_cuda_flags INTERFACE)
target_compile_options(caffe2rt_cuda_flags INTERFACE
  "$<$<COMPILE_LANGUAGE:CXX>:$<TARGET_PROPERTY:caffe2rt_flags,INTERFACE_COMPILE_OPTIONS>>"
  "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra;--extended-lambda;--expt-relaxed-constexpr>"
  "$<$<AND:$<COMPILE_LANGUAGE:CUDA>,$<BOOL:${CAFFE2RT_WERROR}>>:-Werror=all-warnings;-Xcompiler=-Werror>")
# What the compiler of C++ gets and the linker does not, which would warn of options that it does not use.
set(CAFFE2RT_COMPILER_OPTIONS "" CACHE STRING "Options of the compiler alone, e.g. -mllvm -inline-threshold=50")
if(CAFFE2RT_COMPILER_OPTIONS)
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:${CAFFE2RT_COMPILER_OPTIONS}>")
endif()
# lld links the test programs in a quarter of the time that GNU ld takes.
find_program(CAFFE2RT_LLD ld.lld)
if(CAFFE2RT_LLD)
  add_link_options(-fuse-ld=lld)
endif()
if(CAFFE2RT_SANITIZE)
  add_compile_options(-fsanitize=${CAFFE2RT_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${CAFFE2RT_SANITIZE})
  if(CAFFE2RT_SANITIZE MATCHES undefined)
    add_compile_options(-fno-sanitize-recover=undefined)
  endif()
  if(CAFFE2RT_SANITIZE MATCHES address AND CAFFE2RT_SANITIZE MATCHES undefined)
    # A quarter of the compiler's time, and vptr a tenth; the address sanitizer reports most of these accesses itself.
    add_compile_options(-fno-sanitize=null,object-size,vptr)
    # Calls by a pointer of another type than the function's: each function has its type in data that a program relocates when it
    # starts.
    add_compile_options("$<$<COMPILE_LANG_AND_ID:CXX,Clang,AppleClang>:-fno-sanitize=function>")
  endif()
  # A library calls its own inline functions, not a program's copies of them, which are not optimized. The look-up of these
  # functions would take more than a third of the time in which a program starts.
  add_link_options($<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,SHARED_LIBRARY>:LINKER:-Bsymbolic-functions>)
  add_compile_definitions(CAFFE2RT_SANITIZED=1)
  # g++ 12 warns of std::regex's own members under its sanitizers (GCC bug 105562). The flag comes after -Wall.
  target_compile_options(caffe2rt_flags INTERFACE "$<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>")
endif()
if(CAFFE2RT_COVERAGE)
  add_compile_options(--coverage -O0)
  add_link_options(--coverage)
endif()

# The libraries export what public headers declare between `#pragma GCC visibility push(default)` and `pop`; all other symbols
# are hidden. Tests reach internal functions, so that a shared library that is built for them exports all.
if(BUILD_SHARED_LIBS AND CAFFE2RT_BUILD_TESTS)
  set(hide_symbols OFF)
else()
  set(hide_symbols ON)
endif()
option(CAFFE2RT_HIDE_SYMBOLS "Export only the symbols that public headers declare" ${hide_symbols})
if(CAFFE2RT_HIDE_SYMBOLS)
  set(CMAKE_CXX_VISIBILITY_PRESET hidden)
  set(CMAKE_CUDA_VISIBILITY_PRESET hidden)
  set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
endif()

# Saves about a third of a full build. The presets turn it on; tests/coverage.sh builds without, so that every source is also
# compiled with its own includes alone.
option(CAFFE2RT_PCH "Precompile the headers that most sources share" OFF)

# Unity builds compile the sources of a folder (of a test program: sixteen at a time) as one, in about a third of the time. The
# presets use them; tests/coverage.sh compiles each source alone.
option(CAFFE2RT_UNITY_LIBRARY "Compile the library's folders as one source each" OFF)
option(CAFFE2RT_UNITY_TESTS "Compile the sources of a test program together" OFF)

# In a unity build g++ takes each source for a header, whose types should have no members of unnamed namespaces.
if(CAFFE2RT_UNITY_LIBRARY OR CAFFE2RT_UNITY_TESTS)
  target_compile_options(caffe2rt_flags INTERFACE "$<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>")
endif()

include(CheckCXXCompilerFlag)
check_cxx_compiler_flag(-munroll-only-small-loops CAFFE2RT_UNROLL_ONLY_SMALL_LOOPS)

# caffe2rt_folder(KIND [APART] [CHECK_ALIGNMENT] [UNOPTIMIZED_IF_SANITIZED]): what the sources of the current folder are, which
# decides their options. Each folder with sources of the library states it.
#
#   PASSES    code that runs once for each net, on containers of the standard library: -O1. The build with the thread sanitizer,
#             whose tests are few, does not optimize it
#   HOST      code without arithmetic, which -O3 would not make faster, in an eighth more time: -O2
#   LOOPS     -O3. A short loop takes a quarter more time if it is not aligned, by chance of what is linked before it. Sanitizer
#             builds are not optimized, which takes half of the compiler's time
#   KERNELS   the same, and optimized in sanitizer builds. ASAN's checks are inline: as calls of functions they compile in a quarter
#             less time, but models_test takes almost five times as long
#
# APART: a release build compiles the sources one at a time, because what the optimizer inlines into vector code depends on the
# size of the whole. UNOPTIMIZED_IF_SANITIZED: the kernels of hundreds of functions and types, also those for CUDA, which take a
# third of the compiler's time without the optimizer. CHECK_ALIGNMENT: code that makes numbers of the bytes of files. Only there and
# in the kernels for CUDA, which load vectors, does UBSAN check the alignment of each access, which would take up to a third of the
# compiler's time.
function(caffe2rt_folder kind)
  cmake_parse_arguments(arg "APART;CHECK_ALIGNMENT;UNOPTIMIZED_IF_SANITIZED" "" "" ${ARGN})
  set(options)
  if(CMAKE_BUILD_TYPE STREQUAL Release)
    set(gnu 0)
    if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
      set(gnu 1)
    endif()
    if(kind STREQUAL PASSES)
      set(options -O1)
      # g++ 13 and later use the precompiled headers, made with -O3, only if these options, which -O2 turns on, are the same.
      if(CAFFE2RT_UNROLL_ONLY_SMALL_LOOPS)
        list(APPEND options -munroll-only-small-loops -mvzeroupper)
      endif()
    elseif(kind STREQUAL HOST)
      set(options -O2 $<${gnu}:-fvect-cost-model=dynamic>)
    elseif(kind MATCHES "^(LOOPS|KERNELS)$")
      set(options $<${gnu}:-falign-loops=32>)
    endif()
  endif()
  if(NOT kind MATCHES "^(PASSES|HOST|LOOPS|KERNELS)$" OR arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "caffe2rt_folder(${kind} ${ARGN}), want PASSES, HOST, LOOPS or KERNELS, and APART, "
                        "CHECK_ALIGNMENT or UNOPTIMIZED_IF_SANITIZED")
  endif()
  if(CAFFE2RT_SANITIZE MATCHES undefined AND NOT arg_CHECK_ALIGNMENT)
    list(APPEND options -fno-sanitize=alignment)
  endif()
  if(NOT kind STREQUAL KERNELS AND CAFFE2RT_SANITIZE MATCHES address AND CMAKE_CXX_COMPILER_ID STREQUAL Clang)
    list(APPEND options -mllvm -asan-instrumentation-with-call-threshold=0)
  endif()
  set(unoptimized "")
  if(CAFFE2RT_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL Clang)
    # The precompiled headers were made with the optimizer, which clang takes for a difference in the language.
    set(unoptimized -O0 -Xclang -fno-validate-pch)
  endif()
  if(kind STREQUAL LOOPS OR arg_UNOPTIMIZED_IF_SANITIZED OR (kind STREQUAL PASSES AND CAFFE2RT_THREAD_TESTS_ONLY))
    list(APPEND options ${unoptimized})
  endif()
  if(arg_UNOPTIMIZED_IF_SANITIZED)
    set_property(DIRECTORY PROPERTY caffe2rt_cuda_options ${unoptimized})
  endif()
  if(arg_APART AND CMAKE_BUILD_TYPE STREQUAL Release)
    set_property(DIRECTORY PROPERTY caffe2rt_apart ON)
  endif()
  set_property(DIRECTORY PROPERTY caffe2rt_kind ${kind})
  set_property(DIRECTORY PROPERTY caffe2rt_options ${options})
endfunction()

# caffe2rt_source_options("options..." a.cc b.cc): options of sources beside those of their folder. Sanitizer builds have one
# instruction set, without vectors of the compiler's and without fused operations, and do not need them.
function(caffe2rt_source_options options)
  if(CAFFE2RT_SANITIZE)
    return()
  endif()
  get_property(folder_options DIRECTORY PROPERTY caffe2rt_options)
  set_source_files_properties(${ARGN} TARGET_DIRECTORY caffe2rt PROPERTIES COMPILE_OPTIONS "${folder_options};${options}")
  # With a precompiled header, GCC 12 takes this option from the header.
  if(options MATCHES "-ffp-contract")
    set_source_files_properties(${ARGN} TARGET_DIRECTORY caffe2rt PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
  endif()
endfunction()

# Puts sources of the current folder into one unity group of `target`.
function(caffe2rt_unity_group target)
  file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  string(MAKE_C_IDENTIFIER ${folder} group)
  set(compiled ${ARGN})
  get_property(apart DIRECTORY PROPERTY caffe2rt_apart)
  if(CAFFE2RT_UNITY_LIBRARY AND NOT (apart AND target STREQUAL caffe2rt))
    set_source_files_properties(${ARGN} TARGET_DIRECTORY ${target} PROPERTIES UNITY_GROUP ${group})
    # CMake compiles a source with options apart from its group: these are for the group's source.
    get_target_property(target_folder ${target} BINARY_DIR)
    set(compiled ${target_folder}/CMakeFiles/${target}.dir/Unity/unity_${group}_cxx.cxx)
  endif()
  get_property(kind DIRECTORY PROPERTY caffe2rt_kind)
  if(NOT kind AND target STREQUAL caffe2rt)
    message(FATAL_ERROR "${CMAKE_CURRENT_SOURCE_DIR}/CMakeLists.txt has sources, and no caffe2rt_folder(KIND) before them")
  endif()
  if(target STREQUAL caffe2rt)
    get_property(options DIRECTORY PROPERTY caffe2rt_options)
  else()  # the target has options of its own
    get_property(options DIRECTORY PROPERTY caffe2rt_cuda_options)
  endif()
  if(options)
    set_source_files_properties(${compiled} TARGET_DIRECTORY ${target} PROPERTIES COMPILE_OPTIONS "${options}")
  endif()
endfunction()

function(caffe2rt_configure_library target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${CAFFE2RT_UNITY_LIBRARY} UNITY_BUILD_MODE GROUP)
  if(CAFFE2RT_PCH)
    target_precompile_headers(${target} PRIVATE
      <algorithm> <cmath> <functional> <map> <memory> <string> <vector>
      <caffe2_core/runtime/operator_registry.h> <contexts/cpu/cpu_context.h>)
  endif()
  set_target_properties(${target} PROPERTIES OUTPUT_NAME caffe2rt DEFINE_SYMBOL "" VERSION ${PROJECT_VERSION}
                                             SOVERSION ${CAFFE2RT_SOVERSION})
  target_sources(${target} PRIVATE $<TARGET_OBJECTS:caffe2rt_proto>)
  add_dependencies(${target} caffe2rt_proto)
  caffe2rt_library_interface(${target})
endfunction()

# The library of the other kind, from the same objects, which is installed too: caffe2rt_shared beside a static caffe2rt,
# caffe2rt_static beside a shared one. Not where the objects export all symbols, for tests, or need CUDA's half.
function(caffe2rt_add_other_kind)
  if(NOT CAFFE2RT_HIDE_SYMBOLS OR CAFFE2_CUDA_STATIC)
    return()
  endif()
  set(kind STATIC)
  if(NOT BUILD_SHARED_LIBS)
    set(kind SHARED)
  endif()
  string(TOLOWER ${kind} name)
  set(target caffe2rt_${name})
  add_library(${target} ${kind} $<TARGET_OBJECTS:caffe2rt> $<TARGET_OBJECTS:caffe2rt_proto>)
  add_library(caffe2rt::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME caffe2rt EXPORT_NAME ${name} LINKER_LANGUAGE CXX VERSION ${PROJECT_VERSION} SOVERSION ${CAFFE2RT_SOVERSION})
  caffe2rt_library_interface(${target})
endfunction()

# The headers of the library and the libraries that it needs, for each library made of its objects.
function(caffe2rt_library_interface target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/gen>
    $<INSTALL_INTERFACE:${CAFFE2RT_INSTALL_INCLUDEDIR}>)
  # Opened on first use.
  target_include_directories(${target} PRIVATE $<TARGET_PROPERTY:Libzip::zip,INTERFACE_INCLUDE_DIRECTORIES>)
  target_link_libraries(${target}
    PUBLIC protobuf::libprotobuf Threads::Threads absl::core_headers
    PRIVATE $<BUILD_INTERFACE:caffe2rt_flags> $<BUILD_INTERFACE:nlohmann_json::nlohmann_json> Onednn::onednn
            JPEG::JPEG PNG::PNG Leveldb::leveldb Lmdb::lmdb Numa::numa absl::strings absl::str_format
            ${CMAKE_DL_LIBS})
endfunction()

# For code that costs more time to optimise than the tests spend in it.
function(caffe2rt_fast_to_sanitize target)
  if(CAFFE2RT_SANITIZE)
    target_compile_options(${target} PRIVATE -O0)
  endif()
endfunction()

# For the code of programs, which spend their time in the library.
function(caffe2rt_program_code target)
  caffe2rt_fast_to_sanitize(${target})
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
endfunction()

# Links abseil's archives instead of its sixteen shared libraries, which take a millisecond to load. The archives that
# Debian builds can be linked into programs alone. Without them the program has the shared libraries.
function(caffe2rt_link_abseil_archives target)
  set(left absl::failure_signal_handler absl::stacktrace absl::strings absl::str_format absl::symbolize)
  set(seen)
  set(archives)
  set(files)
  while(left)
    list(POP_FRONT left name)
    if(NOT TARGET ${name} OR name IN_LIST seen)
      continue()
    endif()
    list(APPEND seen ${name})
    get_target_property(needed ${name} INTERFACE_LINK_LIBRARIES)
    list(APPEND left ${needed})
    get_target_property(kind ${name} TYPE)
    if(NOT kind STREQUAL SHARED_LIBRARY)
      continue()
    endif()
    get_target_property(library ${name} LOCATION)
    string(REGEX REPLACE "\\.so[.0-9]*$" ".a" archive ${library})
    if(NOT EXISTS ${archive})
      return()
    endif()
    list(APPEND archives ${archive})
    get_filename_component(file ${archive} NAME)
    list(APPEND files ${file})
  endwhile()
  if(archives)
    list(JOIN files ":" hidden)  # modules link abseil themselves
    target_link_options(${target} PRIVATE LINKER:--as-needed LINKER:--exclude-libs,${hidden})
    target_link_libraries(${target} PRIVATE $<LINK_GROUP:RESCAN,${archives}>)
  endif()
endfunction()

# All of the library, for programs whose modules resolve against them.
function(caffe2rt_link_all target)
  if(BUILD_SHARED_LIBS)
    target_link_libraries(${target} PRIVATE caffe2rt)
  elseif(CAFFE2_CUDA_STATIC)
    # CUDA's half links the library once more, which CMake refuses beside its own form of this.
    target_link_libraries(${target} PRIVATE
      -Wl,--whole-archive $<TARGET_FILE:caffe2rt> -Wl,--no-whole-archive caffe2rt)
  else()
    target_link_libraries(${target} PRIVATE $<LINK_LIBRARY:WHOLE_ARCHIVE,caffe2rt>)
  endif()
endfunction()

function(caffe2rt_sources)
  foreach(source IN LISTS ARGN)
    target_sources(caffe2rt PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/${source})
    caffe2rt_unity_group(caffe2rt ${CMAKE_CURRENT_SOURCE_DIR}/${source})
  endforeach()
endfunction()

# A program takes longer to start than most of its tests run: a process for each test doubles the time of the whole suite. The
# presets use one process for each program; tests/coverage.sh runs each test apart.
option(CAFFE2RT_WHOLE_TEST_PROGRAMS "Let ctest run each test program as one test" OFF)

# The most seconds of a test program. One that starts other programs takes ten times as long under a sanitizer.
set(CAFFE2RT_TEST_SECONDS 900)
if(CAFFE2RT_SANITIZE)
  set(CAFFE2RT_TEST_SECONDS 1800)
endif()

# The thread sanitizer's tree holds the tests that start threads.
if(CAFFE2RT_SANITIZE MATCHES thread)
  set(CAFFE2RT_THREAD_TESTS_ONLY ON)
endif()

# CI compiles the test programs of the folders for which tests/CMakeLists.txt sets CAFFE2RT_PLAIN_FOLDER without the address sanitizer,
# by the command of a release build, whose objects ccache has. The library, the programs, and the helpers in tests/support are
# instrumented: what is not checked are accesses by the code of these tests itself.
option(CAFFE2RT_PLAIN_TESTS "Compile tests of operators and programs without the address sanitizer" OFF)
function(caffe2rt_plain_test name)
  if(CAFFE2RT_PLAIN_TESTS AND CAFFE2RT_SANITIZE MATCHES address AND CMAKE_CXX_COMPILER_ID STREQUAL Clang)
    set_target_properties(${name} PROPERTIES CXX_COMPILER_LAUNCHER "${CAFFE2RT_LAUNCHER};--plain" CAFFE2RT_PLAIN _plain)
  endif()
endfunction()

# Sets `result` to the file on which a macro of the sanitizers has an effect: `file`, a path from the root of the sources, or one that
# it includes. "" if there is none.
function(caffe2rt_sanitized_file result file)
  get_property(is_known GLOBAL PROPERTY "caffe2rt_sanitized_file ${file}" SET)
  if(NOT is_known)
    set_property(GLOBAL PROPERTY "caffe2rt_sanitized_file ${file}" "")
    set(found "")
    set(lines "")
    if(EXISTS ${PROJECT_SOURCE_DIR}/${file})
      file(STRINGS ${PROJECT_SOURCE_DIR}/${file} lines REGEX "^#include \"|CAFFE2RT_SANITIZED")
    endif()
    foreach(line IN LISTS lines)
      if(line MATCHES "CAFFE2RT_SANITIZED")
        set(found ${file})
      else()
        string(REGEX REPLACE "^#include \"([^\"]*)\".*" "\\1" header "${line}")
        caffe2rt_sanitized_file(found "${header}")
      endif()
      if(found)
        break()
      endif()
    endforeach()
    set_property(GLOBAL PROPERTY "caffe2rt_sanitized_file ${file}" "${found}")
  endif()
  get_property(found GLOBAL PROPERTY "caffe2rt_sanitized_file ${file}")
  set(${result} "${found}" PARENT_SCOPE)
endfunction()

# Fails if a program whose tests are plain has sources that are other code with the sanitizers than without.
function(caffe2rt_require_plain_sources name)
  foreach(source IN LISTS ARGN)
    cmake_path(ABSOLUTE_PATH source NORMALIZE OUTPUT_VARIABLE path)
    cmake_path(RELATIVE_PATH path BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
    caffe2rt_sanitized_file(found ${path})
    if(found)
      message(FATAL_ERROR "caffe2rt_test(${name}) lacks the word INSTRUMENTED: CAFFE2RT_SANITIZED changes the code of ${found}, "
                          "which ${path} is or includes")
    endif()
  endforeach()
endfunction()

# The first test program precompiles the headers that all share, the others take them from it.
function(caffe2rt_test_headers name)
  if(NOT CAFFE2RT_PCH)
    return()
  endif()
  get_property(plain TARGET ${name} PROPERTY CAFFE2RT_PLAIN)
  set(owner_property caffe2rt_test_headers_owner${plain})
  get_property(owner GLOBAL PROPERTY ${owner_property})
  if(owner)
    target_precompile_headers(${name} REUSE_FROM ${owner})
  else()
    target_precompile_headers(${name} PRIVATE <gmock/gmock.h> <gtest/gtest.h>
      <tests/support/operator_test.h>)
    set_property(GLOBAL PROPERTY ${owner_property} ${name})
  endif()
endfunction()

# Sets `result` to the sources without those whose tests `filter` leaves out: they have tests, and none of the words before the
# filter's minus sign.
function(caffe2rt_selected_sources result filter)
  string(REGEX REPLACE "-.*" "" selected "${filter}")
  string(REGEX MATCHALL "[A-Za-z0-9_]+" words "${selected}")
  set(kept)
  foreach(source IN LISTS ARGN)
    cmake_path(ABSOLUTE_PATH source OUTPUT_VARIABLE file)
    set(keep ON)
    if(words AND source MATCHES "_test\\.cc$")
      file(READ ${file} text)
      set(keep OFF)
      foreach(word IN LISTS words)
        string(FIND "${text}" "${word}" position)
        if(NOT position EQUAL -1)
          set(keep ON)
        endif()
      endforeach()
      set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    endif()
    if(keep)
      list(APPEND kept ${source})
    endif()
  endforeach()
  set(${result} ${kept} PARENT_SCOPE)
endfunction()

# With CAFFE2RT_WHOLE_TEST_PROGRAMS, a program is one test of ctest; programs with a COST come first, so that none of them runs
# alone at the end. APART: each of its tests is one of ctest, which shows those that skip for want of models; not under
# sanitizers. INSTRUMENTED: no plain test (above), because a macro of the sanitizers changes its code, as that of all that includes
# caffe2_core/base/simd.h. THREADS: it starts threads, as every program on the fake CUDA does (cudart_fake among LIBS). THREAD_TESTS
# is a GoogleTest filter: the thread sanitizer's tree compiles and runs only these tests of the program, where others start no threads.
function(caffe2rt_test name)
  cmake_parse_arguments(arg "APART;INSTRUMENTED;THREADS" "COST;THREAD_TESTS" "SOURCES;LIBS;LABELS" ${ARGN})
  if(CAFFE2RT_THREAD_TESTS_ONLY AND arg_THREAD_TESTS)
    caffe2rt_selected_sources(arg_SOURCES "${arg_THREAD_TESTS}" ${arg_SOURCES})
  endif()
  add_executable(${name} ${arg_SOURCES})
  if(CAFFE2RT_PLAIN_FOLDER AND NOT arg_INSTRUMENTED)
    caffe2rt_require_plain_sources(${name} ${arg_SOURCES})
    caffe2rt_plain_test(${name})
  endif()
  caffe2rt_test_headers(${name})
  target_link_libraries(${name} PRIVATE caffe2rt_tested caffe2rt_flags caffe2rt_test_support GTest::gmock ${arg_LIBS})
  set(properties)
  if(arg_LABELS)
    list(APPEND properties LABELS "${arg_LABELS}")
  endif()
  if(arg_COST)
    list(APPEND properties COST ${arg_COST})
  endif()
  if(CAFFE2RT_THREAD_TESTS_ONLY AND arg_THREAD_TESTS)
    list(APPEND properties ENVIRONMENT "GTEST_FILTER=${arg_THREAD_TESTS}")
  endif()
  if(CAFFE2RT_THREAD_TESTS_ONLY AND NOT arg_THREADS AND NOT "cudart_fake" IN_LIST arg_LIBS
     AND NOT "caffe2rt_test_cuda" IN_LIST arg_LIBS)
    set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ON)
    return()
  endif()
  if(CAFFE2RT_WHOLE_TEST_PROGRAMS AND (CAFFE2RT_SANITIZE OR NOT arg_APART))
    add_test(NAME ${name} COMMAND ${name})
    set_tests_properties(${name} PROPERTIES TIMEOUT ${CAFFE2RT_TEST_SECONDS} ${properties})
  else()
    gtest_discover_tests(${name} TEST_PREFIX ${name}. DISCOVERY_MODE PRE_TEST
                         PROPERTIES TIMEOUT 300 ${properties})
  endif()
endfunction()
