# Installs the build to a fresh folder, then builds tests/package against it and runs what comes out.
# cmake -D BUILD=... -D SOURCE=... -D SCRATCH=... -P install_test.cmake
file(REMOVE_RECURSE ${SCRATCH})
function(run)
  execute_process(COMMAND ${ARGN} OUTPUT_VARIABLE out ERROR_VARIABLE out RESULT_VARIABLE code)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${ARGN}: ${code}\n${out}")
  endif()
  set(output "${out}" PARENT_SCOPE)
endfunction()
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${SCRATCH}/prefix)
run(${SCRATCH}/prefix/bin/lppool-cli --version)
run(${CMAKE_COMMAND} -S ${SOURCE}/tests/package -B ${SCRATCH}/build -D CMAKE_PREFIX_PATH=${SCRATCH}/prefix
    -D CMAKE_CXX_COMPILER=${COMPILER})
run(${CMAKE_COMMAND} --build ${SCRATCH}/build)
run(${SCRATCH}/build/consumer ${SOURCE}/testdata/models/old.onnx)
# 2x2 windows of ones and p = 3: the cube root of 4.
if(NOT output STREQUAL "1x2x3x3, first 1.5874\n")
  message(FATAL_ERROR "the consumer printed: ${output}")
endif()
file(REMOVE_RECURSE ${SCRATCH})
