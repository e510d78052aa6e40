# cmake -DBUNDLE=folder -DPROGRAMS=a,b -DMODULE=libcaffe2_cuda.so -DMODULE_SONAME=name -DCUDART=libcudart.so
#       -DOPENED=libzip.so -DMANIFEST=bundle.json -DPYTHON=python3 -DSOURCE=here -DDEMO=folder -P assemble.cmake
string(REPLACE "," ";" programs "${PROGRAMS}")
file(REMOVE_RECURSE ${BUNDLE})
file(MAKE_DIRECTORY ${BUNDLE}/bin ${BUNDLE}/lib/cuda ${BUNDLE}/data)
file(COPY ${programs} DESTINATION ${BUNDLE}/bin)
get_filename_component(module ${MODULE} REALPATH)
file(COPY_FILE ${module} ${BUNDLE}/lib/libcaffe2_cuda.so)
file(CREATE_LINK libcaffe2_cuda.so ${BUNDLE}/lib/${MODULE_SONAME} SYMBOLIC)  # the name by which the core opens it

# Copies the libraries that the programs need or open, except the C library and CUDA's libraries, which the other machine has.
file(GET_RUNTIME_DEPENDENCIES
  RESOLVED_DEPENDENCIES_VAR needed
  UNRESOLVED_DEPENDENCIES_VAR missing
  EXECUTABLES ${programs}
  LIBRARIES ${module} ${OPENED}
  POST_EXCLUDE_REGEXES "/lib(c|m|dl|rt|pthread|resolv)\\.so" "/ld-linux" "/libcud" "/libcublas" "/libcurand")
foreach(library IN LISTS needed OPENED)
  get_filename_component(name ${library} NAME)
  get_filename_component(real ${library} REALPATH)
  file(COPY_FILE ${real} ${BUNDLE}/lib/${name})
endforeach()
get_filename_component(cudart ${CUDART} REALPATH)
file(COPY_FILE ${cudart} ${BUNDLE}/lib/cuda/libcudart.so.13)

file(COPY ${MANIFEST} DESTINATION ${BUNDLE})
foreach(file run.sh run.py page.py nets.py compare.py README.md)
  file(COPY ${SOURCE}/${file} DESTINATION ${BUNDLE})
endforeach()
file(COPY ${DEMO}/init_net.pb ${DEMO}/predict_net.pb DESTINATION ${BUNDLE}/data/demo)
execute_process(COMMAND ${PYTHON} ${SOURCE}/nets.py ${BUNDLE}/data COMMAND_ERROR_IS_FATAL ANY)
get_filename_component(folder ${BUNDLE} DIRECTORY)
get_filename_component(name ${BUNDLE} NAME)
message("packing the bundle, about a minute")
execute_process(COMMAND ${CMAKE_COMMAND} -E tar cJf ${name}.tar.xz ${name} WORKING_DIRECTORY ${folder} COMMAND_ERROR_IS_FATAL ANY)
file(SIZE ${BUNDLE}.tar.xz bytes)
math(EXPR mebibytes "(${bytes} + 1048575) / 1048576")
message("the bundle is ${BUNDLE}.tar.xz (${mebibytes} MiB): copy it to a machine with a GPU, unpack it and run ${name}/run.sh")
