#include "lppool/base/error.h"

namespace lppool {

int exit_code(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kUsage: return 2;
    case ErrorKind::kIo: return 3;
    case ErrorKind::kParse: return 4;
    case ErrorKind::kUnsupported: return 5;
    case ErrorKind::kLimit: return 6;
    case ErrorKind::kRuntime: return 7;
    case ErrorKind::kDefect: return 70;
    case ErrorKind::kInterrupted: return 130;
  }
  return 70;
}

}  // namespace lppool
