#pragma once

namespace lppool {

// The one way a run is stopped from outside: a signal handler (or another thread) asks, long loops look. Safe to call from
// a signal handler and from any thread.
void request_interrupt();
void clear_interrupt();
// Throws Error(kInterrupted) where an interrupt was requested. Costs one relaxed load.
void check_interrupt();

}  // namespace lppool
